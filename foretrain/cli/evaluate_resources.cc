// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/evaluate_resources.h"

#include <algorithm>

#include "foretrain/base/format.h"
#include "foretrain/base/near.h"
#include "foretrain/cli/progress.h"
#include "foretrain/cli/table.h"

namespace foretrain::cli {
namespace {

constexpr int kNarrowest = 132;  // columns

std::string percent(const std::optional<double>& share) {
  return share ? format("%.1f %%", 100 * *share) : "-";
}

Table table_of(const evaluate::ResourceEvaluation& evaluation) {
  Table table;
  for (const char* name : {"setting", "role", "resource"}) {
    table.columns.push_back({name, false, false});
  }
  for (const char* name : {"jobs", "mean", "median", "floor", "its median", "amount", "burst",
                           "idle", "NRMSE", "log RMSE", "in interval", "missing"}) {
    table.columns.push_back({name, true, false});
  }
  using resource::Number;
  for (const evaluate::ResourceScore& score : evaluation.scores) {
    const auto of = [&](Number number) { return percent(score.of_number[index_of(number)]); };
    table.rows.push_back({printable(score.setting), std::string(name_of(score.role)),
                          std::string(name_of(score.resource)), std::to_string(score.jobs),
                          percent(score.mean), percent(score.median), percent(score.floor_mean),
                          percent(score.floor_median), of(Number::BurstAmount),
                          of(Number::BurstTime), of(Number::IdleTime), format("%.3f", score.nrmse),
                          format("%.3f", score.log_rmse), percent(score.coverage),
                          std::to_string(score.missing)});
  }
  return table;
}

Table table_of(const std::vector<evaluate::NumberScore>& scores) {
  Table table;
  table.columns = {{"setting", false, false}, {"number", false, false}};
  for (const char* name :
       {"jobs", "mean", "median", "floor", "its median", "log RMSE", "in interval", "missing"}) {
    table.columns.push_back({name, true, false});
  }
  for (const evaluate::NumberScore& score : scores) {
    table.rows.push_back({printable(score.setting), score.number, std::to_string(score.jobs),
                          percent(score.mean), percent(score.median), percent(score.floor_mean),
                          percent(score.floor_median), format("%.3f", score.log_rmse),
                          percent(score.coverage), std::to_string(score.missing)});
  }
  return table;
}

}  // namespace

void show_resources(const std::string& data, evaluate::ResourceOptions options,
                    const Library& library, bool json, Output& rows, Console& console) {
  if (options.split == "all") options.split.clear();
  evaluate::ResourceEvaluation evaluation;
  {
    Progress progress("evaluating");
    options.progress = [&](double share) {
      progress.show(static_cast<std::size_t>(100 * share), share);
    };
    evaluation = evaluate::evaluate_resources(data, options, library);
  }
  if (rows.wanted()) rows.write(evaluate::resource_rows(evaluation));
  rows.close();
  if (json) return console.line(evaluate::to_json(evaluation));
  Screen screen = console.screen;
  screen.width = std::max(screen.width, kNarrowest);
  console.write(render(table_of(evaluation), screen));
  console.line("");
  console.write(render(table_of(evaluation.numbers), screen));
}

}  // namespace foretrain::cli
