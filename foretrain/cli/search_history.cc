// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/search_history.h"

#include "foretrain/base/csv.h"
#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/measured/table.h"

namespace foretrain::cli {
namespace {

std::string field(const std::optional<double>& value) { return value ? csv_field(*value) : ""; }

std::vector<std::string> columns_of(const scaling::SearchSpace& space) {
  std::vector<std::string> columns = space.variables;
  for (const char* name : {"time_s", "expected_gain", "goal", "best_goal"}) {
    columns.emplace_back(name);
  }
  return columns;
}

}  // namespace

std::string history_csv(const scaling::SearchSpace& space,
                        const std::vector<scaling::Tried>& history,
                        const std::vector<std::optional<double>>& improvements,
                        const scaling::SearchOptions& options) {
  std::string text;
  for (const std::string& name : columns_of(space)) {
    text += (text.empty() ? "" : ",") + csv_field(name);
  }
  text += "\n";
  for (std::size_t i = 0; i < history.size(); ++i) {
    for (const std::string& value : space.points[history[i].point]) text += csv_field(value) + ",";
    const std::vector<scaling::Tried> so_far(history.begin(),
                                             history.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    const auto best = scaling::best_of(space, so_far, options);
    std::optional<double> goal;
    std::optional<double> best_goal;
    if (history[i].time_s) goal = scaling::goal_of(space, history[i], options);
    if (best) best_goal = scaling::goal_of(space, history[*best], options);
    text += field(history[i].time_s) + "," + field(improvements[i]) + "," + field(goal) + "," +
            field(best_goal) + "\n";
  }
  return text;
}

SearchHistory read_history(const std::filesystem::path& file, const scaling::SearchSpace& space) {
  SearchHistory history;
  std::error_code missing;
  if (!std::filesystem::exists(file, missing)) return history;
  measured::Table table(file);
  if (table.columns() != columns_of(space)) {
    throw Error(ErrorKind::BadInput, table.where() +
                                         ": the history of another search; give --history another "
                                         "file, or remove it");
  }
  for (measured::Row row; table.next(row);) {
    const auto end = row.cells.begin() + static_cast<std::ptrdiff_t>(space.variables.size());
    const auto point = scaling::find_point(space, {row.cells.begin(), end});
    if (!point) {
      throw Error(ErrorKind::BadInput, table.where() + ": line " + std::to_string(row.line) +
                                           ": a run that is not in the space");
    }
    const std::string_view text = measured::cell(row, "time_s");
    const std::optional<double> time = scaling::number_in(text);
    if (!text.empty() && !(time && *time > 0)) {  // empty: the run failed
      throw Error(ErrorKind::BadInput, table.where() + ": line " + std::to_string(row.line) +
                                           ": a time of '" + printable(text) +
                                           "' s, where a number above 0 must be");
    }
    history.tried.push_back({*point, time});
    history.improvements.push_back(scaling::number_in(measured::cell(row, "expected_gain")));
  }
  return history;
}

}  // namespace foretrain::cli
