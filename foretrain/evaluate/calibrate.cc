// SPDX-License-Identifier: Apache-2.0
#include "foretrain/evaluate/calibrate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "foretrain/evaluate/detail/summary.h"
#include "foretrain/measured/report_number.h"

namespace foretrain::evaluate {
namespace {

constexpr std::size_t kMostCompared = 2000;  // rows of a group that `spread` looks at

double distance(const Shares& a, const Shares& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

// The step that a row tells of, where its number follows from the step's time.
std::optional<double> measured_step_s(const Waiting& row, std::size_t step_number,
                                      const Prediction& prediction) {
  const int of_step = measured::report_numbers()[row.number].of_step;
  if (of_step == 0 || row.one.outcome != Outcome::Predicted) return std::nullopt;
  const double ratio = row.one.measured / row.one.predicted;
  return *prediction.numbers[step_number] * (of_step > 0 ? ratio : 1 / ratio);
}

// One of each request among the rows, in their order.
std::vector<std::size_t> different_runs(const std::vector<Waiting*>& rows) {
  std::set<std::string_view> seen;
  std::vector<std::size_t> runs;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Waiting& row = *rows[i];
    const bool tells = row.one.outcome == Outcome::Predicted &&
                       measured::report_numbers()[row.number].of_step != 0;
    if (tells && seen.insert(row.one.request).second) runs.push_back(i);
  }
  return runs;
}

// Calibrates one group and predicts it anew.
CalibratedGroup calibrate_group(const std::vector<Waiting*>& rows, const Options& options,
                                const Library& library, PredictionCache& plain) {
  static const std::size_t kStep = measured::report_number_named("step_time_s");
  const std::vector<std::size_t> runs = different_runs(rows);
  std::vector<Shares> shares;
  for (const std::size_t run : runs) shares.push_back(shares_of_parts(rows[run]->one.breakdown));
  std::vector<measured::MeasuredStep> steps;
  std::set<std::string> used;
  const CalibrationOptions& asked = options.calibration;
  for (const std::size_t place :
       asked.seed ? draw(runs.size(), asked.rows, *asked.seed) : spread(shares, asked.rows)) {
    const Waiting& row = *rows[runs[place]];
    const auto prediction = plain.predict({row.one.request}).front();
    steps.push_back(
        {parse_request(row.one.request, "request"), *measured_step_s(row, kStep, *prediction)});
    used.insert(row.one.request);
  }
  CalibratedGroup group;
  group.runs = steps.size();
  if (steps.empty()) return group;
  group.calibration = options.calibration.fit(steps, library);
  Library own = copy_of(library);
  std::erase_if(own.calibrations, [&group](const Calibration& other) {
    return other.device == group.calibration.device;  // which it started from
  });
  own.calibrations.push_back(group.calibration);
  PredictionCache calibrated(own, options.threads);
  judge(rows, calibrated);
  for (Waiting* row : rows) {
    if (!used.contains(row->one.request)) continue;
    row->one.outcome = Outcome::Calibration;
    row->one.reason = "its run calibrates the others";
  }
  return group;
}

using Groups = std::map<std::vector<std::string>, std::vector<Waiting*>>;

// Whether steps were measured, predicted or refused.
bool has_steps(const std::vector<Waiting*>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const Waiting* row) {
    return measured::report_numbers()[row->number].of_step != 0;
  });
}

// Rows of groups that are not drawn are not scored, refused ones neither; what has no steps is left
// alone.
void draw_groups(const CalibrationOptions& asked, Groups& groups) {
  std::vector<Groups::iterator> telling;
  for (auto group = groups.begin(); group != groups.end(); ++group) {
    if (has_steps(group->second)) telling.push_back(group);
  }
  if (asked.most_groups == 0 || telling.size() <= asked.most_groups) return;
  const std::vector<std::size_t> drawn =
      draw(telling.size(), asked.most_groups, asked.seed.value_or(0));
  const std::set<std::size_t> kept(drawn.begin(), drawn.end());
  for (std::size_t place = 0; place < telling.size(); ++place) {
    if (kept.contains(place)) continue;
    for (Waiting* row : telling[place]->second) {
      row->one.outcome = Outcome::Calibration;
      row->one.reason = "its group was not drawn";
    }
    groups.erase(telling[place]);
  }
}

}  // namespace

Shares shares_of_parts(const Breakdown& parts) {
  Shares shares{parts.compute.count(), parts.memory.count(), parts.exposed_communication.count(),
                parts.host.count()};
  double sum = 0;
  for (const double part : shares) sum += part;
  for (double& part : shares) part /= sum > 0 ? sum : 1;
  return shares;
}

std::vector<std::size_t> spread(const std::vector<Shares>& shares, std::size_t count) {
  const std::size_t stride = (shares.size() + kMostCompared - 1) / kMostCompared;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < shares.size(); i += stride) places.push_back(i);
  std::vector<double> nearest(places.size(), 2);  // no two shares are farther apart
  std::vector<std::size_t> chosen;
  while (chosen.size() < std::min(count, places.size())) {
    double lowest = std::numeric_limits<double>::infinity();
    std::size_t best = 0;
    for (const std::size_t candidate : places) {
      if (std::find(chosen.begin(), chosen.end(), candidate) != chosen.end()) continue;
      double sum = 0;
      for (std::size_t i = 0; i < places.size(); ++i) {
        sum += std::min(nearest[i], distance(shares[candidate], shares[places[i]]));
      }
      if (sum >= lowest) continue;
      lowest = sum;
      best = candidate;
    }
    chosen.push_back(best);
    for (std::size_t i = 0; i < places.size(); ++i) {
      nearest[i] = std::min(nearest[i], distance(shares[best], shares[places[i]]));
    }
  }
  return chosen;
}

std::vector<std::size_t> draw(std::size_t places, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);  // the standard says what it yields; its distributions are not
  std::vector<std::size_t> left(places);
  std::iota(left.begin(), left.end(), 0U);
  std::vector<std::size_t> chosen;
  while (chosen.size() < count && !left.empty()) {
    const auto place = static_cast<std::ptrdiff_t>(random() % left.size());
    chosen.push_back(left[static_cast<std::size_t>(place)]);
    left.erase(left.begin() + place);
  }
  return chosen;
}

std::vector<CalibratedGroup> judge_calibrated(std::vector<Waiting>& rows, const Options& options,
                                              const Library& library) {
  std::vector<Waiting*> all;
  for (Waiting& row : rows) all.push_back(&row);
  PredictionCache plain(library, options.threads);
  judge(all, plain);
  std::vector<std::string> by{"device"};
  by.insert(by.end(), options.calibration.by.begin(), options.calibration.by.end());
  Groups groups;
  for (Waiting* row : all) {
    if (!row->one.request.empty()) groups[group_of(row->one, by)].push_back(row);
  }
  draw_groups(options.calibration, groups);
  std::vector<CalibratedGroup> found;
  for (const auto& [key, members] : groups) {
    CalibratedGroup group = calibrate_group(members, options, library, plain);
    group.file = members.front()->one.file;
    group.key = key;
    found.push_back(std::move(group));
  }
  return found;
}

}  // namespace foretrain::evaluate
