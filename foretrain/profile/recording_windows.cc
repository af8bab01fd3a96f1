// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/detail/recording_windows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "foretrain/base/median.h"
#include "foretrain/base/near.h"

namespace foretrain::profile {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
// Windows times columns: 800 MB at most; above 32 MB they are in proportion to the rows.
constexpr double kMostCells = 100e6;
constexpr double kFewCells = 4e6;
constexpr double kMostGap = 10;  // windows per row, on average

// What a device's being busy is told by: the first of these that the file has.
std::size_t column_of_use(const RecordingRows& rows) {
  for (const char* name : {"gpu_util", "gpu_memory_util", "power"}) {
    const auto found = std::find(rows.names.begin(), rows.names.end(), name);
    if (found != rows.names.end()) return static_cast<std::size_t>(found - rows.names.begin());
  }
  return 0;
}

// The instance with the highest mean.
std::size_t busiest(const RecordingRows& rows) {
  const std::vector<double>& use = rows.values[column_of_use(rows)];
  std::vector<std::pair<double, double>> sums(rows.instances.size());
  for (std::size_t i = 0; i < use.size(); ++i) {
    if (!std::isfinite(use[i])) continue;
    auto& [sum, count] = sums[rows.instance_of[i]];
    sum += use[i];
    ++count;
  }
  const auto mean = [](const std::pair<double, double>& sum) {
    return sum.second > 0 ? sum.first / sum.second : 0;
  };
  const auto best = std::max_element(
      sums.begin(), sums.end(), [&](const auto& a, const auto& b) { return mean(a) < mean(b); });
  return static_cast<std::size_t>(best - sums.begin());
}

// The instance that was asked for, by its index ("1", of dcgmi "GPU 1"), or the busiest.
std::size_t choose(const RecordingRows& rows, const std::string& name, const ReadOptions& options,
                   Recording& recording) {
  if (!options.gpu) {
    if (rows.instances.size() == 1) return 0;
    const std::size_t best = busiest(rows);
    recording.notes.push_back("the busiest of several devices is shown: " +
                              printable(rows.instances[best].name));
    return best;
  }
  const std::string index = std::to_string(*options.gpu);
  std::string there;
  for (std::size_t i = 0; i < rows.instances.size(); ++i) {
    const std::string& one = rows.instances[i].name;
    if (one == index || one == "GPU " + index) return i;
    if (one.empty()) refuse(name, "does not tell GPUs apart; leave out the index");
    if (i < 8) there += (i == 0 ? " " : ", ") + printable(one);
  }
  refuse(name, "has no GPU " + index + ", but" + there);
}

// Rows of one instance: the times of the first and the last, and the usual distance in between, 10
// ms where there is none.
struct Span {
  double first_s = 0;
  double last_s = 0;
  Seconds window{0.01};
};

Span span_of(const RecordingRows& rows, std::size_t instance) {
  std::vector<double> distances;
  Span span{.first_s = kNan};
  for (std::size_t i = 0; i < rows.time_s.size(); ++i) {
    if (rows.instance_of[i] != instance) continue;
    if (std::isnan(span.first_s)) span.first_s = span.last_s = rows.time_s[i];
    if (rows.time_s[i] > span.last_s) distances.push_back(rows.time_s[i] - span.last_s);
    span.last_s = rows.time_s[i];
  }
  if (!distances.empty()) {  // times in files are rounded
    span.window = Seconds{std::round(median(std::move(distances)) * 1e9) / 1e9};
  }
  return span;
}

// One column: several rows of a window are averaged, those of one time added where they add up.
std::vector<double> place(const std::vector<double>& values, const RecordingRows& rows,
                          std::size_t instance, const Span& span, std::size_t count) {
  std::vector<double> samples(count, 0);
  std::vector<double> times(count, 0);
  double before = kNan;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (rows.instance_of[i] != instance || !std::isfinite(values[i])) continue;
    const auto window = static_cast<std::size_t>(
        std::llround((rows.time_s[i] - span.first_s) / span.window.count()));
    samples[window] += values[i];
    if (!rows.adds_up || rows.time_s[i] != before) ++times[window];
    before = rows.time_s[i];
  }
  for (std::size_t i = 0; i < count; ++i) {
    samples[i] = times[i] > 0 ? samples[i] / times[i] : kNan;
  }
  return samples;
}

}  // namespace

Recording into_windows(RecordingRows rows, const std::string& name, const ReadOptions& options) {
  if (rows.names.empty()) {
    refuse(name, "none of its columns is known; docs/profile.md lists what is read");
  }
  Recording recording{.name = name, .notes = rows.notes};
  for (const std::string& column : rows.names) {
    recording.columns.push_back({.name = column, .unit = unit_of(column)});
  }
  if (rows.time_s.empty()) return recording;
  const std::size_t instance = choose(rows, name, options, recording);
  const Span span = span_of(rows, instance);
  recording.window = span.window;
  const double windows = std::round((span.last_s - span.first_s) / span.window.count()) + 1;
  const auto count = static_cast<double>(rows.instances[instance].rows);
  const auto columns = static_cast<double>(rows.names.size());
  const double most = std::min(kMostCells, std::max(kFewCells, kMostGap * count * columns));
  if (!(windows * columns <= most)) {  // infinite where a window is rounded to nothing
    refuse(name, "covers too long a time for the usual distance of its rows");
  }
  for (std::size_t i = 0; i < rows.names.size(); ++i) {
    const std::vector<double> values = std::move(rows.values[i]);  // gone when it is placed
    RecordingColumn& column = recording.columns[i];
    column.samples = place(values, rows, instance, span, static_cast<std::size_t>(windows));
    if (column.unit == "%") column.refresh = rows.refresh;
  }
  return recording;
}

}  // namespace foretrain::profile
