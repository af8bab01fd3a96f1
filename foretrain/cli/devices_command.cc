// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "foretrain/base/humanise.h"
#include "foretrain/base/json.h"
#include "foretrain/cli/catalog_command.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/commands.h"
#include "foretrain/cli/local_machine.h"
#include "foretrain/cli/table.h"
#include "foretrain/hw/catalog.h"
#include "foretrain/hw/hardware_json.h"
#include "foretrain/hw/load_catalog.h"

namespace foretrain::cli {
namespace {

std::vector<const hw::DeviceEntry*> find_devices(const hw::Catalog& catalog,
                                                 const std::string& filter) {
  std::vector<const hw::DeviceEntry*> found;
  std::vector<std::string> names;
  for (const hw::DeviceEntry& entry : catalog.devices) {
    std::vector<std::string> words = entry.aliases;
    words.insert(words.end(), {entry.device.name, entry.device.vendor, entry.device.architecture});
    names.push_back(entry.device.name);
    if (matches(filter, words)) found.push_back(&entry);
  }
  if (found.empty()) fail_no_match("device", filter, names);
  return found;
}

std::string tera(const std::optional<double>& flops_per_s) {
  return flops_per_s ? significant(*flops_per_s / 1e12, 3) : "-";
}

std::string devices_table(const hw::Catalog& catalog,
                          const std::vector<const hw::DeviceEntry*>& entries,
                          const Screen& screen) {
  Table table{{{"device", false},
               {"family", false},
               {"memory", true},
               {"bandwidth", true},
               {"fp32", true},
               {"fp16", true},
               {"bf16", true},
               {"$/hour", true}},
              {}};
  for (const hw::DeviceEntry* entry : entries) {
    const hw::Device& device = entry->device;
    const hw::Instance* instance = hw::cheapest_instance(catalog, device.name);
    table.rows.push_back(
        {Cell(device.name, Colour::Bold), device.architecture, format_bytes(device.memory_bytes),
         format_rate(device.memory_bytes_per_s), tera(device.fp32_flops_per_s),
         tera(hw::matrix_peak(device, Precision::Fp16)),
         tera(hw::matrix_peak(device, Precision::Bf16)),
         instance == nullptr ? "-" : significant(hw::price_per_device_hour_usd(*instance), 3)});
  }
  return render(table, screen) + "\n" +
         wrap(
             "fp32, fp16, bf16: peak of GEMMs in TFLOP/s, dense; $/hour: of one device "
             "in its cheapest cloud instance. A full name shows all values with their sources.",
             "  ", screen);
}

std::string value_text(const OrderedJson& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number()) return json_text(value);
  const double number = value.get<double>();
  return number < 1e6 ? format_count(number) : format_large(number);
}

// Every value of one device with the number of its source; the sources below.
std::string device_details(const hw::DeviceEntry& entry, const Screen& screen) {
  std::string title = paint(entry.device.name, Colour::Bold, screen);
  for (const std::string& alias : entry.aliases) title += ", " + alias;
  Table table{{{"", false}, {"", true}, {"", false}}, {}};
  std::vector<std::string> sources;
  const auto number_of = [&](const std::string& text) {
    const auto known = std::find(sources.begin(), sources.end(), text);
    const auto index = known - sources.begin();
    if (known == sources.end()) sources.push_back(text);
    return "[" + std::to_string(index + 1) + "]";
  };
  const OrderedJson values = ordered_json(hw::device_json(entry));
  for (const auto& [field, value] : values.items()) {
    if (value.is_null() || value.is_structured() || field == "name") continue;
    std::string source;
    for (const hw::Source& known : entry.sources) {
      if (known.field == field && !known.text.empty()) source = number_of(known.text);
    }
    table.rows.push_back({field, Cell(value_text(value), Colour::Bold), Cell(source, Colour::Dim)});
  }
  std::string text = title + "\n" + render(table, screen) + "\n";
  for (std::size_t i = 0; i < sources.size(); ++i) {
    text += wrap(sources[i], "  [" + std::to_string(i + 1) + "] ", screen);
  }
  return text;
}

// A table, and all about the one that was named.
std::string devices_text(const hw::Catalog& catalog,
                         const std::vector<const hw::DeviceEntry*>& entries,
                         const std::string& filter, const Screen& screen) {
  if (entries.size() == 1) return device_details(*entries.front(), screen);
  std::string text = devices_table(catalog, entries, screen);
  for (const hw::DeviceEntry* entry : entries) {
    if (names_exactly(filter, {entry->device.name})) text += "\n" + device_details(*entry, screen);
  }
  return text;
}

}  // namespace

void add_devices_command(Command& app, Console& console) {
  auto local = std::make_shared<bool>(false);
  Command& command = add_catalog_command(
      app, "devices", "the devices with their datasheets",
      "foretrain devices a100\n  foretrain devices --local",
      [&console, local](const CatalogOptions& options) {
        const hw::Catalog catalog = hw::load_catalog();
        if (*local) return show_local_machine(catalog, options, console);
        const auto found = find_devices(catalog, options.filter);
        if (options.json) return console.line(hw::devices_json(found));
        console.write(devices_text(catalog, found, options.filter, console.screen));
      });
  command.add_flag("--local", *local, "this machine: its CPU, memory, GPUs and network cards");
}

}  // namespace foretrain::cli
