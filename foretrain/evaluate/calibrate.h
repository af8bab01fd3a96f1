// SPDX-License-Identifier: Apache-2.0
// Rows that calibrate their group before the others are scored.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "foretrain/evaluate/judge.h"

namespace foretrain::evaluate {

// What a step is predicted to spend its time on: shares of compute, memory, exposed
// communication, host.
using Shares = std::array<double, 4>;
Shares shares_of_parts(const Breakdown& parts);

// The `count` places that stand for the whole best: the first has the smallest mean distance to
// all, each next lowers most the mean distance of all to the nearest one chosen. The first of
// equals counts. Knows nothing of measured values. Large sets are thinned out evenly first.
std::vector<std::size_t> spread(const std::vector<Shares>& shares, std::size_t count);

// `count` of the places 0 to `places` - 1, drawn without repetition: the same for the same seed.
std::vector<std::size_t> draw(std::size_t places, std::size_t count, std::uint64_t seed);

// Predicts the rows of one file as they are, finds each group's calibration by the runs that
// `draw` or `spread` chooses and predicts its other rows with it. Rows with the request of a chosen
// run get Outcome::Calibration, whatever they measure. Returns what was found, in the groups'
// order.
std::vector<CalibratedGroup> judge_calibrated(std::vector<Waiting>& rows, const Options& options,
                                              const Library& library);

}  // namespace foretrain::evaluate
