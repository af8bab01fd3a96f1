// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <memory>

#include "foretrain/base/file.h"
#include "foretrain/base/format.h"
#include "foretrain/base/number_range.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/fit/commands.h"
#include "foretrain/cli/fit/fit_output.h"
#include "foretrain/fit/collectives.h"
#include "foretrain/knowledge/library.h"

namespace foretrain::cli {
namespace {

struct CollectivesCommand {
  std::string data;
  std::string output;
  std::string start;
  fit::CollectiveFit options;
};

comm::Constants start_of(const CollectivesCommand& command, const Library& library) {
  constexpr std::uintmax_t kLargest = 1 << 20;
  comm::Constants in_use = *library.collectives;
  if (command.start.empty()) return in_use;
  return comm::with_numbers_of(read_file(command.start, kLargest), named(command.start),
                               std::move(in_use));
}

void run_collectives(const CollectivesCommand& command, Console& console) {
  const Library library = load_library();
  const comm::Constants start = start_of(command, library);
  FitOutput output(command.output, console);
  const fit::FittedCollectives fitted =
      fit::fit_collectives(command.data, start, command.options, library.catalog);
  output.say(format("  %zu rows of %zu cells  error %.1f %% -> %.1f %%", fitted.rows, fitted.cells,
                    100 * std::expm1(fitted.before), 100 * std::expm1(fitted.after)));
  for (const fit::LeftOutCell& cell : fitted.left_out) {
    output.say(format("  left out: %-42s %6zu rows  MAPE %5.1f %%  bias %+6.1f %%",
                      cell.cell.c_str(), cell.rows, 100 * cell.mape, 100 * cell.bias));
  }
  std::vector<std::string> notes;
  std::string& note = notes.emplace_back();
  note = std::to_string(fitted.rows) + " rows of " + std::to_string(fitted.cells) +
         " cells (cluster, collective, nodes, devices)";
  for (const std::string& cluster : command.options.without) note += ", without " + cluster;
  for (const std::string& name : fitted.held) notes.push_back("held as in the start: " + name);
  output.write(comm::write_constants(fitted.constants, notes));
}

}  // namespace

void add_fit_collectives(Command& app, Console& console) {
  auto command = std::make_shared<CollectivesCommand>();
  Command& sub = app.add_subcommand("collectives", "constants of collectives from measured ones");
  sub.footer(
      "Example:\n  foretrain fit collectives --data measurements/collectives -o collectives.json\n"
      "  foretrain fit collectives --data lab.db -o collectives.json\n"
      "  foretrain fit collectives --data measurements/collectives --without Vista -o other.json");
  sub.add_option("--data", command->data, "measured collectives: a store, a folder or a file")
      .required();
  sub.add_option("-o,--output", command->output, "the predictor file to write").required();
  sub.add_option("--start", command->start, "start from this file, not from what is shipped");
  sub.add_option("--without", command->options.without, "leave this cluster out; may be repeated");
  sub.add_option("--vary", command->options.vary,
                 "also vary these, which else stay: tcp.shared_nic, all.ramp_exponent")
      .delimiter(',');
  sub.add_option("--evaluations", command->options.evaluations, "effort")
      .check(number_range(1, 100000));
  sub.callback([command, &console] { run_collectives(*command, console); });
}

}  // namespace foretrain::cli
