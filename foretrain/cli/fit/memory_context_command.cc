// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "foretrain/base/format.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/fit/commands.h"
#include "foretrain/cli/fit/fit_output.h"
#include "foretrain/fit/memory_context.h"

namespace foretrain::cli {
namespace {

struct MemoryContextCommand {
  std::string data;
  std::string output;
};

void run_memory_context(const MemoryContextCommand& command, Console& console) {
  FitOutput output(command.output, console);
  const fit::FittedContext fitted = fit::fit_memory_context(command.data, load_library());
  std::vector<std::string> notes;
  for (const fit::FittedContextNumber& number : fitted.numbers) {
    output.say(format("  %-24s %5zu rows  %.0f MB -> %.0f MB", number.name.c_str(), number.rows,
                      number.before / 1e6, number.after / 1e6));
    notes.push_back(number.name + ": median of " + std::to_string(number.rows) + " rows");
  }
  notes.emplace_back("the others are as they were");
  output.write(memory::write_context_bytes(fitted.context, notes));
}

}  // namespace

void add_fit_memory_context(Command& app, Console& console) {
  auto command = std::make_shared<MemoryContextCommand>();
  Command& sub = app.add_subcommand("memory-context",
                                    "memory taken before the first tensor, from what devices used");
  sub.footer(
      "Example:\n  foretrain fit memory-context --data smi.csv -o memory_context.json\n"
      "Rows are those whose mapping compares them with memory_peak_bytes.");
  sub.add_option("--data", command->data,
                 "memory in use, as nvidia-smi shows it: a store, a folder or a file")
      .required();
  sub.add_option("-o,--output", command->output, "the predictor file to write").required();
  sub.callback([command, &console] { run_memory_context(*command, console); });
}

}  // namespace foretrain::cli
