// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/cli/console.h"
#include "foretrain/train/scaling_tests.h"

namespace foretrain::cli {

void show_scaling_tests(const std::vector<train::ScalingTest>& tests, Console& console);
std::string scaling_tests_json(const std::vector<train::ScalingTest>& tests);
// A CSV line per tested row, for plots.
std::string scaling_tests_rows(const std::vector<train::ScalingTest>& tests,
                               const train::ScalingData& data);

}  // namespace foretrain::cli
