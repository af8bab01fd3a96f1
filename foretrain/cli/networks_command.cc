// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/humanise.h"
#include "foretrain/cli/catalog_command.h"
#include "foretrain/cli/commands.h"
#include "foretrain/cli/table.h"
#include "foretrain/hw/catalog.h"
#include "foretrain/hw/hardware_json.h"
#include "foretrain/hw/load_catalog.h"

namespace foretrain::cli {
namespace {

std::vector<const hw::LinkEntry*> find_links(const hw::Catalog& catalog,
                                             const std::string& filter) {
  std::vector<const hw::LinkEntry*> found;
  std::vector<std::string> names;
  for (const bool network : {false, true}) {  // first what joins devices, then what joins nodes
    for (const hw::LinkEntry& entry : catalog.links) {
      if (entry.network != network) continue;
      std::vector<std::string> words = entry.aliases;
      words.push_back(entry.link.name);
      names.push_back(entry.link.name);
      if (matches(filter, words)) found.push_back(&entry);
    }
  }
  if (found.empty()) fail_no_match("network or link", filter, names);
  return found;
}

std::string networks_text(const std::vector<const hw::LinkEntry*>& entries, const Screen& screen) {
  Table table{{{"link", false},
               {"joins", false},
               {"rate", true},
               {"reached", true},
               {"latency", true},
               {"transport", false}},
              {}};
  for (const hw::LinkEntry* entry : entries) {
    const hw::Link& link = entry->link;
    const std::string transport = entry->network      ? (link.rdma ? "RDMA" : "TCP")
                                  : !link.peer_access ? "via host"
                                  : link.switched     ? "switch"
                                                      : "direct";
    table.rows.push_back({Cell(link.name, Colour::Bold), entry->network ? "nodes" : "devices",
                          format_rate(link.bytes_per_s), format_rate(hw::node_bytes_per_s(link)),
                          format_time(link.latency), transport});
  }
  return render(table, screen) + "\n" +
         wrap(
             "A network may have a count of NICs in front (4xhdr) or be a plain rate (50gbps). "
             "--json has all values with their sources.",
             "  ", screen);
}

}  // namespace

void add_networks_command(Command& app, Console& console) {
  add_catalog_command(app, "networks", "the links inside and between nodes",
                      "foretrain networks nvlink", [&console](const CatalogOptions& options) {
                        const hw::Catalog catalog = hw::load_catalog();
                        const auto found = find_links(catalog, options.filter);
                        if (options.json) return console.line(hw::networks_json(found));
                        console.write(networks_text(found, console.screen));
                      });
}

}  // namespace foretrain::cli
