// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/trace.h"

#include <algorithm>
#include <cmath>

namespace foretrain::profile {

const TraceColumn* find_column(const Trace& trace, std::string_view name) {
  for (const TraceColumn& column : trace.columns) {
    if (column.name == name) return &column;
  }
  return nullptr;
}

std::size_t length_of(const Trace& trace) {
  return trace.columns.empty() ? 0 : trace.columns.front().samples.size();
}

Trace cut(const Trace& trace, Seconds from, Seconds to) {
  constexpr double kRounding = 1e-6;  // of a window
  const auto count = static_cast<double>(length_of(trace));
  const double first = std::ceil((from - trace.start) / trace.window - kRounding);
  const double end = std::floor((to - trace.start) / trace.window + kRounding);
  const auto begin = static_cast<std::ptrdiff_t>(std::clamp(first, 0.0, count));
  const auto stop = static_cast<std::ptrdiff_t>(std::clamp(end, 0.0, count));
  Trace part = trace;
  part.start = trace.start + static_cast<double>(begin) * trace.window;
  for (TraceColumn& column : part.columns) {
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
