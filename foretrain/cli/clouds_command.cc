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

std::vector<const hw::Instance*> find_instances(const hw::Catalog& catalog,
                                                const std::string& filter) {
  std::vector<const hw::Instance*> found;
  std::vector<std::string> names;
  for (const hw::Instance& instance : catalog.instances) {
    names.push_back(instance.name);
    if (matches(filter,
                {instance.provider + ":" + instance.name, instance.device, instance.region})) {
      found.push_back(&instance);
    }
  }
  if (found.empty()) fail_no_match("cloud instance", filter, names);
  return found;
}

std::string clouds_text(const std::vector<const hw::Instance*>& instances, const Screen& screen) {
  Table table{{{"instance", false, true},
               {"devices", false},
               {"network", true},
               {"$/hour", true},
               {"per device", true}},
              {}};
  for (const hw::Instance* instance : instances) {
    table.rows.push_back({Cell(instance->provider + ":" + instance->name, Colour::Bold),
                          std::to_string(instance->devices) + " x " + instance->device,
                          format_rate(hw::node_bytes_per_s(instance->network)),
                          significant(instance->price_per_hour_usd, 3),
                          significant(hw::price_per_device_hour_usd(*instance), 3)});
  }
  return render(table, screen) + "\n" +
         wrap("List prices on demand; --json has region, date and source of each.", "  ", screen);
}

}  // namespace

void add_clouds_command(Command& app, Console& console) {
  add_catalog_command(app, "clouds", "cloud instances with their prices", "foretrain clouds v100",
                      [&console](const CatalogOptions& options) {
                        const hw::Catalog catalog = hw::load_catalog();
                        const auto found = find_instances(catalog, options.filter);
                        if (options.json) return console.line(hw::clouds_json(found));
                        console.write(clouds_text(found, console.screen));
                      });
}

}  // namespace foretrain::cli
