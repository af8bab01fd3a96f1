// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "foretrain/operators/stages.h"
#include "foretrain/resource/levels.h"

namespace foretrain::inspector {

// Memory activity of the slowest worker over one step: bytes that operators move over their time,
// in percent of what the device's memory could move. For less than a window it may be above 100 %.
std::vector<resource::Level> memory_levels(const operators::Stages& stages,
                                           const Resolved& resolved);

}  // namespace foretrain::inspector
