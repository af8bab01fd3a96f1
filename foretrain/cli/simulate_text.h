// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/cli/console.h"
#include "foretrain/fleet/simulation_report.h"

namespace foretrain::cli {

std::string simulation_text(const fleet::SimulationReport& report, const Screen& screen);

// Several simulations side by side, those of one policy with different seeds as their mean.
std::string sweep_text(const std::vector<fleet::PolicyMeans>& rows, const Screen& screen);

}  // namespace foretrain::cli
