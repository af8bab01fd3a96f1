// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/humanise.h"
#include "foretrain/base/json.h"
#include "foretrain/cli/catalog_command.h"
#include "foretrain/cli/commands.h"
#include "foretrain/cli/table.h"
#include "foretrain/cost/framework_file.h"
#include "foretrain/knowledge/library.h"

namespace foretrain::cli {
namespace {

using cost::Framework;

std::vector<const Framework*> find_frameworks(const std::vector<Framework>& known,
                                              const std::string& filter) {
  std::vector<const Framework*> found;
  std::vector<std::string> names;
  for (const Framework& framework : known) {
    names.push_back(framework.name);
    if (matches(filter, {framework.name})) found.push_back(&framework);
  }
  if (found.empty()) fail_no_match("framework", filter, names);
  return found;
}

std::string frameworks_json(const std::vector<const Framework*>& frameworks) {
  OrderedJson list = OrderedJson::array();
  for (const Framework* one : frameworks) {
    list.push_back(ordered_json(cost::framework_json(*one)));
  }
  return json_text(list);
}

std::string framework_details(const Framework& framework, const Screen& screen) {
  std::string text = paint(framework.name, Colour::Bold, screen) + "\n";
  const OrderedJson values = ordered_json(cost::framework_json(framework));
  for (const auto& [field, value] : values.items()) {
    if (field == "name") continue;
    const std::string shown = value.is_string() ? value.get<std::string>() : json_text(value);
    text += wrap(field + ": " + shown, "  ", screen);
  }
  return text;
}

std::string frameworks_text(const std::vector<const Framework*>& frameworks,
                            const std::string& filter, const Screen& screen) {
  if (frameworks.size() == 1) return framework_details(*frameworks.front(), screen);
  Table table{{{"framework", false}, {"host time", true}, {"what it does", false, true}}, {}};
  std::string details;
  for (const Framework* one : frameworks) {
    table.rows.push_back(
        {Cell(one->name, Colour::Bold), format_count(one->host_scale), one->source});
    if (names_exactly(filter, {one->name})) details = "\n" + framework_details(*one, screen);
  }
  return render(table, screen) + details + "\n" +
         wrap(
             "Host time is per operator, against eager PyTorch. A name shows all of a framework; "
             "--json has every value.",
             "  ", screen);
}

}  // namespace

void add_frameworks_command(Command& app, Console& console) {
  add_catalog_command(app, "frameworks", "the frameworks that a model may run in",
                      "foretrain frameworks pytorch", [&console](const CatalogOptions& options) {
                        const Library library = load_library();
                        const auto found = find_frameworks(library.frameworks, options.filter);
                        if (options.json) return console.line(frameworks_json(found));
                        console.write(frameworks_text(found, options.filter, console.screen));
                      });
}

}  // namespace foretrain::cli
