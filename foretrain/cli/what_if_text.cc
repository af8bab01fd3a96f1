// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/what_if_text.h"

#include "foretrain/base/humanise.h"
#include "foretrain/cli/table.h"

namespace foretrain::cli {
namespace {

std::string optional_time(const std::optional<double>& seconds) {
  return seconds ? format_time(Seconds{*seconds}) : "-";
}

std::vector<Cell> row_of(const std::string& number, const std::string& what, const Cell& speed,
                         const JobNumbers& job) {
  const Cell fits = job.fits ? Cell("") : Cell("does not fit", Colour::Red);
  return {number,
          what,
          speed,
          format_time(Seconds{job.sample_time_s}),
          optional_time(job.total_time_s),
          job.cost_usd ? format_money(*job.cost_usd) : "-",
          format_bytes(job.peak_bytes),
          fits};
}

// A column that no row fills is left out.
void drop_empty(Table& table) {
  for (std::size_t c = table.columns.size(); c-- > 0;) {
    bool empty = true;
    for (const auto& row : table.rows) empty = empty && (row[c].text.empty() || row[c].text == "-");
    if (!empty) continue;
    table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(c));
    for (auto& row : table.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(c));
  }
}

}  // namespace

std::string what_if_text(const WhatIfs& what_ifs, const Screen& screen) {
  const JobNumbers& now = what_ifs.now;
  Table table{{{"", true},
               {"change", false, true},
               {"speed", true},
               {"per sample", true},
               {"total", true},
               {"cost", true},
               {"memory", true},
               {""}},
              {}};
  table.rows.push_back(row_of("", "as it is", "", now));
  std::string typed;
  for (std::size_t i = 0; i < what_ifs.changes.size(); ++i) {
    const WhatIf& one = what_ifs.changes[i];
    const double speed = now.sample_time_s / one.then.sample_time_s;
    const Colour colour = speed > 1 ? Colour::Green : speed < 1 ? Colour::Red : Colour::None;
    const std::string number = std::to_string(i + 1);
    const std::string factor = (screen.unicode ? "×" : "x") + significant(speed, 3);
    table.rows.push_back(row_of(number, one.what, Cell(factor, colour), one.then));
    typed +=
        wrap(one.options, "  " + std::string(number.size() < 2 ? " " : "") + number + "  ", screen);
  }
  drop_empty(table);
  std::string text = render(table, screen);
  if (what_ifs.changes.empty()) return text + "\nNothing that was tried changes a number.\n";
  return text + "\n" + paint("As options", Colour::Bold, screen) + "\n" + typed;
}

}  // namespace foretrain::cli
