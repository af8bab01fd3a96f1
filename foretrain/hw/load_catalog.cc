// SPDX-License-Identifier: Apache-2.0
#include "foretrain/hw/load_catalog.h"

#include <algorithm>
#include <span>
#include <utility>

#include "foretrain/base/embedded.h"
#include "foretrain/hw/detail/cloud_file.h"
#include "foretrain/hw/detail/device_file.h"
#include "foretrain/hw/detail/facts.h"
#include "foretrain/hw/detail/host_file.h"
#include "foretrain/hw/detail/link_file.h"

namespace foretrain::hw {

extern const std::span<const EmbeddedFile> kHardwareFiles;

namespace {

std::vector<Source> sources_of(const FactSheet& sheet) {
  std::vector<Source> sources;
  for (const Fact& fact : sheet.facts) sources.push_back({fact.field, fact.source});
  return sources;
}

DeviceEntry read_device(const EmbeddedFile& file) {
  const FactSheet sheet = read_facts(file.text, std::string(file.name));
  return {device_of(sheet, nullptr), sheet.aliases, sources_of(sheet)};
}

// A link's file also says what it `joins`: the devices of a node, or nodes; and of the former which
// network such nodes usually have.
LinkEntry read_link(const EmbeddedFile& file, const AssumedLink& assumed) {
  FactSheet sheet = read_facts(file.text, std::string(file.name));
  const bool network = required_text(sheet, "joins") == "nodes";
  const std::string usual = text(sheet, "usual_network").value_or("");
  std::erase_if(sheet.facts, [](const Fact& fact) { return fact.field == "joins"; });
  std::vector<Source> sources = sources_of(sheet);
  std::erase_if(sheet.facts, [](const Fact& fact) { return fact.field == "usual_network"; });
  return {link_of(sheet, assumed, nullptr), sheet.aliases, network, std::move(sources), usual};
}

}  // namespace

Catalog load_catalog() {
  Catalog catalog;
  for (const EmbeddedFile& file : kHardwareFiles) {
    if (!file.name.starts_with("hardware/assumed/")) continue;
    const FactSheet sheet = read_facts(file.text, std::string(file.name));
    if (file.name.ends_with("/link.json")) catalog.assumed_link = assumed_link_of(sheet);
    if (file.name.ends_with("/host.json")) catalog.assumed_host = assumed_host_of(sheet);
  }
  for (const EmbeddedFile& file : kHardwareFiles) {
    if (file.name.starts_with("hardware/devices/")) catalog.devices.push_back(read_device(file));
    if (file.name.starts_with("hardware/links/")) {
      catalog.links.push_back(read_link(file, catalog.assumed_link));
    }
  }
  for (const EmbeddedFile& file : kHardwareFiles) {
    if (!file.name.starts_with("hardware/clouds/")) continue;
    for (Instance& instance : parse_cloud(file.text, std::string(file.name), catalog)) {
      catalog.instances.push_back(std::move(instance));
    }
  }
  std::sort(catalog.instances.begin(), catalog.instances.end(),
            [](const Instance& a, const Instance& b) {
              return std::pair(a.provider, a.name) < std::pair(b.provider, b.name);
            });
  for (DeviceEntry& entry : catalog.devices) {
    const Instance* cheapest = cheapest_instance(catalog, entry.device.name);
    if (cheapest != nullptr) entry.device.price_per_hour_usd = price_per_device_hour_usd(*cheapest);
  }
  return catalog;
}

}  // namespace foretrain::hw
