// SPDX-License-Identifier: Apache-2.0
#include "foretrain/hw/detail/host_file.h"

#include <algorithm>
#include <array>

namespace foretrain::hw {
namespace {

constexpr std::string_view kSpeed = "speed_";
constexpr std::string_view kCpu = "cpu_";

// Names of CPUs have dashes, as those of devices.
std::string with_dashes(std::string text) {
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

}  // namespace

AssumedHost assumed_host_of(const FactSheet& sheet) {
  AssumedHost host;
  FactSheet others = sheet;
  others.facts.clear();
  for (const Fact& fact : sheet.facts) {
    if (fact.field.starts_with(kSpeed)) {
      host.speeds[fact.field.substr(kSpeed.size())] = required_number(sheet, fact.field, 0.05, 20);
    } else if (fact.field.starts_with(kCpu)) {
      host.cpus[with_dashes(fact.field.substr(kCpu.size()))] =
          required_number(sheet, fact.field, 0.05, 20);
    } else {
      others.facts.push_back(fact);
    }
  }
  static constexpr auto kFields = std::to_array<std::string_view>(
      {"name", "pixel_s", "photograph_pixels", "small_image_s", "small_pixels", "record_s", "row_s",
       "number_s", "most_numbers", "pageable_bytes_per_s", "pinned_bytes_per_s",
       "memory_bytes_per_s", "least_offload_bytes"});
  check_fields(others, kFields);
  host.pixel_s = required_number(sheet, "pixel_s", 1e-12, 1e-3);
  host.photograph_pixels = required_number(sheet, "photograph_pixels", 1, 1e9);
  host.small_image_s = required_number(sheet, "small_image_s", 1e-7, 10);
  host.small_pixels = required_number(sheet, "small_pixels", 1, 1e6);
  host.row_s = required_number(sheet, "row_s", 1e-9, 10);
  host.number_s = required_number(sheet, "number_s", 1e-12, 1);
  host.most_numbers = required_number(sheet, "most_numbers", 1, 1e6);
  host.record_s = required_number(sheet, "record_s", 1e-9, 10);
  host.pageable_bytes_per_s = required_number(sheet, "pageable_bytes_per_s", 1e6, 1e12);
  host.pinned_bytes_per_s = required_number(sheet, "pinned_bytes_per_s", 1e6, 1e12);
  host.memory_bytes_per_s = required_number(sheet, "memory_bytes_per_s", 1e6, 1e15);
  host.least_offload_bytes = required_number(sheet, "least_offload_bytes", 0, 1e15);
  return host;
}

}  // namespace foretrain::hw
