// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/knowledge/scaling_model.h"

namespace foretrain::cli {

// A line per workload: the amount, its interval, and whether it lies beyond what was measured.
std::string forecasts_text(const std::vector<ScalingForecast>& forecasts);
std::string forecasts_json(const std::vector<ScalingForecast>& forecasts);

}  // namespace foretrain::cli
