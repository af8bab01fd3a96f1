// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/sim/program.h"

namespace foretrain::sim {

// Runs the program from time zero: a task starts at the latest end of what it is after and of the
// task listed before it on its resource. Deterministic, in time linear in tasks and dependencies
// (times resources where some slow others down). Asserts that dependencies point backwards, that
// durations are finite and not negative, and that rates are above 0.
Timeline run(const Program& program);

}  // namespace foretrain::sim
