// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/evaluate_ways.h"

#include <algorithm>

#include "foretrain/base/format.h"
#include "foretrain/base/near.h"
#include "foretrain/cli/progress.h"
#include "foretrain/cli/table.h"

namespace foretrain::cli {
namespace {

constexpr int kNarrowest = 132;  // columns

std::string mape_of(const std::optional<evaluate::WayScore>& score) {
  return score ? format("%.1f %%", 100 * score->mape) : "-";
}

Table table_of(const std::vector<evaluate::SourceWays>& sources) {
  Table table;
  table.columns = {{"file", false, false}, {"number", false, false}};
  for (const char* name : {"rows", "refused", "facts", "recovered", "left out", "fitted", "plain",
                           "median", "bias", "informed", "calibrated", "its rows"}) {
    table.columns.push_back({name, true, false});
  }
  for (const evaluate::SourceWays& source : sources) {
    if (!source.plain) continue;
    const evaluate::WayScore& plain = *source.plain;
    const std::size_t left = source.calibrated ? source.calibrated->cases : 0;
    table.rows.push_back(
        {printable(source.file), source.metric.empty() ? "all steps" : printable(source.metric),
         std::to_string(plain.cases), std::to_string(plain.refused),
         std::to_string(source.knobs.facts), std::to_string(source.knobs.recovered),
         std::to_string(source.knobs.left_out), std::to_string(source.knobs.fitted),
         mape_of(source.plain), format("%.1f %%", 100 * plain.median_ape),
         format("%+.1f %%", 100 * plain.bias), mape_of(source.informed), mape_of(source.calibrated),
         std::to_string(left)});
  }
  return table;
}

}  // namespace

void show_ways(const std::string& data, const evaluate::WaysOptions& options,
               const Library& library, bool json, Console& console) {
  std::vector<evaluate::SourceWays> sources;
  {
    Progress progress("evaluating three ways");
    sources = evaluate::score_ways(data, options, library,
                                   [&](double share) { progress.show(0, share); });
  }
  if (json) return console.line(evaluate::to_json(sources));
  Screen screen = console.screen;
  screen.width = std::max(screen.width, kNarrowest);
  console.write(render(table_of(sources), screen));
}

}  // namespace foretrain::cli
