// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "foretrain/request/request.h"

namespace foretrain::measured {

// A step that was measured: what ran, how long one step took, and how long of that it waited for
// communication, where that is known.
struct MeasuredStep {
  Request request;
  double step_time_s = 0;
  std::optional<double> exposed_communication_s{};
};

}  // namespace foretrain::measured
