// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/tune.h"

#include <algorithm>

#include "foretrain/base/csv.h"
#include "foretrain/scaling/search.h"

namespace foretrain::train {
namespace {

constexpr std::size_t kMostTried = 12;
constexpr double kLeastError = 1e-9;  // errors are searched by their logarithm

// The settings as points of a space.
scaling::SearchSpace space_of(const std::vector<Setting>& settings) {
  std::vector<std::vector<std::string>> points;
  for (const Setting& one : settings) {
    points.push_back({csv_field(one.degree), csv_field(one.strength), csv_field(one.size)});
  }
  return scaling::space_of({"degree", "strength", "size"}, std::move(points), "tuning");
}

}  // namespace

TunedSetting tune(Method method, Tuning tuning, std::uint64_t seed,
                  const std::function<double(const Setting&)>& error_of) {
  const std::vector<Setting> settings =
      tuning == Tuning::Grid ? grid_of(method) : fine_grid_of(method);
  const scaling::SearchSpace space = space_of(settings);
  scaling::SearchOptions options{.stop = 0.01, .seed = seed};
  options.most = std::min(kMostTried, settings.size());
  std::vector<scaling::Tried> history;
  if (tuning == Tuning::Grid) {
    for (std::size_t i = 0; i < settings.size(); ++i) {
      history.push_back({i, std::max(kLeastError, error_of(settings[i]))});
    }
  } else {
    while (const auto next = scaling::next_point(space, history, options)) {
      history.push_back({next->point, std::max(kLeastError, error_of(settings[next->point]))});
    }
  }
  const std::size_t best = *scaling::best_of(space, history, {});
  return {settings[history[best].point], *history[best].time_s};
}

}  // namespace foretrain::train
