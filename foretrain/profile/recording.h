// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/base/seconds.h"

namespace foretrain::profile {

// One resource over time. Sample i is the mean over the window i; what is not known is NaN.
struct RecordingColumn {
  std::string name{};  // as in the report: "gpu_util", "net_tx", ...
  std::string unit{};  // "%", "B/s", "B", "W"
  std::vector<double> samples{};
  std::optional<double> scale{};  // the full scale: 100 %, the link's rate; absent: not known
  Seconds refresh{0};             // how often the source has a new value; 0: every window
};

// What was sampled of one subject, in windows of equal length. All columns are equally long.
struct Recording {
  std::string name{};
  Seconds start{0};  // on the steady clock (CLOCK_MONOTONIC) where it was sampled here; else 0
  Seconds window{0.01};
  std::vector<RecordingColumn> columns{};
  std::vector<std::string> notes{};  // what a reader should know: what could not be sampled
};

// Null where there is no such column.
const RecordingColumn* find_column(const Recording& recording, std::string_view name);

// Number of windows.
std::size_t length_of(const Recording& recording);

// The windows that lie wholly between two moments of the clock of `start`.
Recording cut(const Recording& recording, Seconds from, Seconds to);

// The unit of a resource by its name.
std::string unit_of(std::string_view resource);

}  // namespace foretrain::profile
