// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/sim/program.h"

namespace foretrain::sim {

// `run` for a program in which resources slow each other down: from event to event, between which
// the same tasks run at the same rates.
Timeline run_slowed(const Program& program);

}  // namespace foretrain::sim
