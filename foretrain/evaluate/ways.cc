// SPDX-License-Identifier: Apache-2.0
#include "foretrain/evaluate/ways.h"

#include <map>
#include <tuple>
#include <utility>

#include "foretrain/base/json.h"
#include "foretrain/evaluate/detail/metrics.h"
#include "foretrain/evaluate/evaluate.h"
#include "foretrain/measured/report_number.h"

namespace foretrain::evaluate {
namespace {

namespace fs = std::filesystem;

using Key = std::pair<std::string, std::string>;  // file, metric
using Place = std::optional<WayScore> SourceWays::*;

struct Tally {
  std::vector<double> errors;
  std::size_t refused = 0;
};

WayScore score_of(const Tally& tally) {
  WayScore score;
  score.cases = tally.errors.size() + tally.refused;
  score.refused = tally.refused;
  score.bias = bias(tally.errors);
  std::vector<double> all = tally.errors;
  all.insert(all.end(), tally.refused, -1);
  score.mape = mape(all);
  score.median_ape = median_ape(all);
  return score;
}

void count(const Case& one, std::map<Key, Tally>& tallies) {
  const bool predicted = one.outcome == Outcome::Predicted;
  if (!predicted && one.outcome != Outcome::Refused) return;
  std::vector<std::string> metrics{one.metric};
  if (measured::report_numbers()[one.number].of_step != 0) metrics.emplace_back();
  for (const std::string& metric : metrics) {
    Tally& tally = tallies[{one.file, metric}];
    if (predicted) {
      tally.errors.push_back(one.error);
    } else {
      ++tally.refused;
    }
  }
}

measured::Knobs knobs_of(const std::string& file, const fs::path& data) {
  const fs::path folder = fs::is_directory(data) ? data : data.parent_path();
  const auto mapping = measured::find_mapping(file, folder);
  return mapping ? mapping->knobs : measured::Knobs{};
}

OrderedJson score_json(const std::optional<WayScore>& score) {
  if (!score) return {};
  return {{"cases", score->cases},
          {"refused", score->refused},
          {"mape_percent", 100 * score->mape},
          {"median_ape_percent", 100 * score->median_ape},
          {"bias_percent", 100 * score->bias}};
}

}  // namespace

std::vector<SourceWays> score_ways(const fs::path& data, const WaysOptions& options,
                                   const Library& library,
                                   const std::function<void(double)>& progress) {
  std::map<Key, SourceWays> sources;
  int done = 0;
  const auto run = [&](bool informed, std::size_t runs, Place place) {
    Options asked = options.evaluate;
    asked.informed = informed;
    asked.calibration.rows = runs;
    asked.calibration.by = {"model"};
    asked.calibration.seed = options.seed;
    asked.calibration.most_groups = options.most_groups;
    std::map<Key, Tally> tallies;
    Observer observer;
    observer.on_case = [&](const Case& one) { count(one, tallies); };
    if (progress) observer.progress = [&](double share) { progress((done + share) / 3); };
    evaluate(data, asked, library, observer);
    for (const auto& [key, tally] : tallies) sources[key].*place = score_of(tally);
    ++done;
  };
  run(false, 0, &SourceWays::plain);
  run(true, 0, &SourceWays::informed);
  if (options.runs > 0) run(false, options.runs, &SourceWays::calibrated);
  std::vector<SourceWays> result;
  for (auto& [key, source] : sources) {
    std::tie(source.file, source.metric) = key;
    source.knobs = knobs_of(source.file, data);
    result.push_back(std::move(source));
  }
  return result;
}

std::string to_json(const std::vector<SourceWays>& sources) {
  OrderedJson json{{"sources", OrderedJson::array()}};
  for (const SourceWays& source : sources) {
    const std::string number = source.metric.empty() ? "all steps" : source.metric;
    json["sources"].push_back(OrderedJson{{"file", source.file},
                                          {"number", number},
                                          {"facts", source.knobs.facts},
                                          {"recovered", source.knobs.recovered},
                                          {"left_out", source.knobs.left_out},
                                          {"fitted", source.knobs.fitted},
                                          {"plain", score_json(source.plain)},
                                          {"informed", score_json(source.informed)},
                                          {"calibrated", score_json(source.calibrated)}});
  }
  return json_text(json);
}

}  // namespace foretrain::evaluate
