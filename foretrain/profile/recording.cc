// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/recording.h"

#include <algorithm>
#include <cmath>

namespace foretrain::profile {

const RecordingColumn* find_column(const Recording& recording, std::string_view name) {
  for (const RecordingColumn& column : recording.columns) {
    if (column.name == name) return &column;
  }
  return nullptr;
}

std::size_t length_of(const Recording& recording) {
  return recording.columns.empty() ? 0 : recording.columns.front().samples.size();
}

Recording cut(const Recording& recording, Seconds from, Seconds to) {
  constexpr double kRounding = 1e-6;  // of a window
  const auto count = static_cast<double>(length_of(recording));
  const double first = std::ceil((from - recording.start) / recording.window - kRounding);
  const double end = std::floor((to - recording.start) / recording.window + kRounding);
  const auto begin = static_cast<std::ptrdiff_t>(std::clamp(first, 0.0, count));
  const auto stop = static_cast<std::ptrdiff_t>(std::clamp(end, 0.0, count));
  Recording part = recording;
  part.start = recording.start + static_cast<double>(begin) * recording.window;
  for (RecordingColumn& column : part.columns) {
    const auto samples = column.samples.begin();
    column.samples = {samples + begin, samples + std::max(begin, stop)};
  }
  return part;
}

std::string unit_of(std::string_view resource) {
  if (resource.ends_with("_util")) return "%";
  if (resource.ends_with("_used")) return "B";
  return resource == "power" ? "W" : "B/s";
}

}  // namespace foretrain::profile
