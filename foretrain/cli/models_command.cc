// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/catalog_command.h"
#include "foretrain/cli/commands.h"
#include "foretrain/cli/table.h"
#include "foretrain/zoo/models_json.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::cli {
namespace {

std::vector<const zoo::Model*> find_models(const std::string& filter) {
  std::vector<const zoo::Model*> found;
  std::vector<std::string> names;
  for (const zoo::Model& model : zoo::models()) {
    names.push_back(model.name);
    if (matches(filter, {model.name, model.family, model.about})) found.push_back(&model);
  }
  if (found.empty()) fail_no_match("built-in model", filter, names);
  return found;
}

std::string model_details(const zoo::Model& model, const Screen& screen) {
  return paint(model.name, Colour::Bold, screen) + "  " + model.family + "\n" +
         wrap(model.about, "  ", screen) + wrap("parameters: " + model.parameters, "  ", screen);
}

// A table, and what it had to cut of the one that was named.
std::string models_text(const std::vector<const zoo::Model*>& models, const std::string& filter,
                        const Screen& screen) {
  if (models.size() == 1) return model_details(*models.front(), screen);
  Table table{{{"model", false}, {"what it is", false, true}, {"parameters", false, true}}, {}};
  std::string details;
  for (const zoo::Model* model : models) {
    table.rows.push_back({Cell(model->name, Colour::Bold), model->about, model->parameters});
    if (names_exactly(filter, {model->name})) details = "\n" + model_details(*model, screen);
  }
  return render(table, screen) + details;
}

}  // namespace

void add_models_command(Command& app, Console& console) {
  add_catalog_command(app, "models", "the built-in models", "foretrain models resnet",
                      [&console](const CatalogOptions& options) {
                        const auto models = find_models(options.filter);
                        if (options.json) return console.line(zoo::models_json(models));
                        console.write(models_text(models, options.filter, console.screen));
                      });
}

}  // namespace foretrain::cli
