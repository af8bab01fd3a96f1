// SPDX-License-Identifier: Apache-2.0
#include "foretrain/hw/host.h"

#include <array>
#include <span>
#include <string>

#include "foretrain/base/embedded.h"
#include "foretrain/hw/detail/facts.h"

namespace foretrain::hw {

extern const std::span<const EmbeddedFile> kHardwareFiles;

Host assumed_host() {
  static constexpr auto kFields = std::to_array<std::string_view>(
      {"name", "memory_bytes_per_s", "copy_share", "least_offload_bytes"});
  Host host;
  for (const EmbeddedFile& file : kHardwareFiles) {
    if (file.name != "hardware/assumed/host.json") continue;
    const FactSheet sheet = read_facts(file.text, std::string(file.name));
    check_fields(sheet, kFields);
    host.memory_bytes_per_s = required_number(sheet, "memory_bytes_per_s", 1e6, 1e15);
    host.copy_share = required_number(sheet, "copy_share", 1e-3, 1);
    host.least_offload_bytes = required_number(sheet, "least_offload_bytes", 0, 1e15);
  }
  return host;
}

}  // namespace foretrain::hw
