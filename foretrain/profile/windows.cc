// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/detail/windows.h"

#include <algorithm>
#include <limits>

namespace foretrain::profile {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The counter at `time`, where `next` is the first reading not before it (moved on as time rises).
double counter_at(const Readings& counter, double time, std::size_t& next) {
  while (next < counter.time_s.size() && counter.time_s[next] < time) ++next;
  if (next == counter.time_s.size()) return kNan;
  if (counter.time_s[next] == time) return counter.value[next];
  if (next == 0) return kNan;
  const double before = counter.time_s[next - 1];
  const double part = (time - before) / (counter.time_s[next] - before);
  return counter.value[next - 1] + part * (counter.value[next] - counter.value[next - 1]);
}

}  // namespace

std::vector<double> rates(const Readings& counter, Seconds window, std::size_t count) {
  std::vector<double> result(count);
  std::size_t next = 0;
  double before = counter_at(counter, 0, next);
  for (std::size_t i = 0; i < count; ++i) {
    const double after = counter_at(counter, static_cast<double>(i + 1) * window.count(), next);
    result[i] = (after - before) / window.count();
    before = after;
  }
  return result;
}

Readings caught_up(Readings counter, double most_per_s) {
  for (std::size_t i = counter.value.size(); i-- > 1;) {
    const double grown = most_per_s * (counter.time_s[i] - counter.time_s[i - 1]);
    counter.value[i - 1] = std::max(counter.value[i - 1], counter.value[i] - grown);
  }
  return counter;
}

std::vector<double> levels(const Readings& level, Seconds window, std::size_t count) {
  std::vector<double> result(count, kNan);
  std::size_t next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double end = static_cast<double>(i + 1) * window.count();
    while (next < level.time_s.size() && level.time_s[next] <= end) ++next;
    if (next > 0) result[i] = level.value[next - 1];
  }
  return result;
}

}  // namespace foretrain::profile
