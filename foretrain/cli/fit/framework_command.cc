// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <memory>

#include "foretrain/base/format.h"
#include "foretrain/base/number_range.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/fit/commands.h"
#include "foretrain/cli/fit/fit_output.h"
#include "foretrain/cost/framework_file.h"
#include "foretrain/fit/framework.h"

namespace foretrain::cli {
namespace {

struct FrameworkCommand {
  std::string name;
  std::string data;
  std::string output;
  fit::FrameworkFit options;
};

void run_framework(const FrameworkCommand& command, Console& console) {
  FitOutput output(command.output, console);
  const Library library = load_library();
  const std::vector<measured::MeasuredStep> steps =
      fit::framework_steps(command.data, command.name, command.options, library);
  const fit::FittedFramework fitted =
      fit::fit_framework(command.name, steps, command.options, library);
  for (const cost::FrameworkNumber& number : cost::framework_numbers()) {
    output.say(format("  %-18s %.4g", number.name, fitted.framework.*number.place));
  }
  output.say(format("  mean error of %zu steps %.1f %% -> %.1f %%", steps.size(),
                    100 * std::expm1(fitted.before), 100 * std::expm1(fitted.after)));
  std::string note = std::to_string(steps.size()) + " measured steps";
  for (const std::string& model : command.options.without) note += ", without " + model;
  output.write(cost::write_frameworks(std::span(&fitted.framework, 1), std::span(&note, 1)));
}

}  // namespace

void add_fit_framework(Command& app, Console& console) {
  auto command = std::make_shared<FrameworkCommand>();
  Command& sub = app.add_subcommand(
      "framework", "what a framework costs besides operators, from measured steps");
  sub.footer(
      "Example:\n  foretrain fit framework adaptdl --data pollux.csv --without NeuMF -o "
      "adaptdl.json\n"
      "  foretrain evaluate --data pollux.csv --predictor adaptdl.json --by model");
  sub.add_option("name", command->name, "the framework").required();
  sub.add_option("--data", command->data, "measured steps: a store, a folder or a file").required();
  sub.add_option("-o,--output", command->output, "the predictor file to write").required();
  sub.add_option("--without", command->options.without, "leave these models out").delimiter(',');
  sub.add_option("--rows", command->options.rows, "steps of each model")
      .check(number_range(1, 10000));
  sub.add_option("--evaluations", command->options.evaluations, "effort")
      .check(number_range(1, 100000));
  sub.callback([command, &console] { run_framework(*command, console); });
}

}  // namespace foretrain::cli
