// SPDX-License-Identifier: Apache-2.0
#include "foretrain/resource/levels.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "foretrain/resource/detail/windows.h"

namespace foretrain::resource {

std::vector<double> sample_levels(const std::vector<Level>& levels, Seconds end, Seconds window) {
  assert(window > Seconds{0});
  const double whole = std::floor(std::max(0.0, windows_in(end, window)));
  const auto count = static_cast<std::size_t>(whole);
  std::vector<double> samples(count, 0.0);
  // Windows that a level covers wholly are noted by their ends alone and summed up at the end.
  // Counting the levels too gives an exact zero back where none is left.
  std::vector<double> step(count + 1, 0.0);
  std::vector<int> joins(count + 1, 0);
  for (const Level& level : levels) {
    const double first = std::clamp(windows_in(level.start, window), 0.0, whole);
    const double last = std::clamp(windows_in(level.end, window), 0.0, whole);
    if (!(first < last)) continue;
    const auto whole_from = static_cast<std::size_t>(std::ceil(first));
    const auto whole_to = static_cast<std::size_t>(last);
    if (whole_from > whole_to) {  // begins and ends inside one window
      samples[whole_to] += level.amount * (last - first);
      continue;
    }
    const double before = static_cast<double>(whole_from) - first;
    const double behind = last - static_cast<double>(whole_to);
    if (before > 0) samples[whole_from - 1] += level.amount * before;
    if (behind > 0) samples[whole_to] += level.amount * behind;
    step[whole_from] += level.amount;
    step[whole_to] -= level.amount;
    ++joins[whole_from];
    --joins[whole_to];
  }
  double sum = 0;
  int present = 0;
  for (std::size_t i = 0; i < count; ++i) {
    present += joins[i];
    sum = present == 0 ? 0.0 : sum + step[i];
    samples[i] += sum;
  }
  return samples;
}

}  // namespace foretrain::resource
