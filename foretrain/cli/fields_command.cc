// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "foretrain/cli/command.h"
#include "foretrain/cli/commands.h"
#include "foretrain/cli/console.h"
#include "foretrain/cli/table.h"
#include "foretrain/request/request_fields.h"

namespace foretrain::cli {
namespace {

std::string fields_text(const Screen& screen) {
  Table table{{{"field"}, {"meaning (default)", false, true}}, {}};
  for (const auto fields : {request_fields(), strategy_fields()}) {
    for (const RequestField& field : fields) {
      const std::string name = (field.of_strategy ? "strategy." : "") + std::string(field.name);
      table.rows.push_back({Cell(name, Colour::Bold), help_of(field)});
    }
  }
  return render(table, screen);
}

}  // namespace

void add_fields_command(Command& app, Console& console) {
  auto json = std::make_shared<bool>(false);
  Command& command = app.add_subcommand("fields", "the fields of a request");
  command.footer("Example:\n  foretrain fields --json");
  command.add_flag("--json", *json, "print types, words and ranges too, as a JSON array");
  command.callback([json, &console] {
    if (*json) return console.line(request_fields_json());
    console.write(fields_text(console.screen));
  });
}

}  // namespace foretrain::cli
