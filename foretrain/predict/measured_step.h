// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/predict/request.h"

namespace foretrain {

// A step that was measured: what ran, and how long one step took.
struct MeasuredStep {
  Request request;
  double step_time_s = 0;
};

}  // namespace foretrain
