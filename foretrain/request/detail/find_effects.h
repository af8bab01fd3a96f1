// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/request/job_effects.h"
#include "foretrain/request/request.h"

namespace foretrain {

// What the request says of the whole job; `knows_epoch`: how many samples an epoch has. Throws
// Error(BadInput) for a field that means nothing without another one.
JobEffects find_effects(const Request& request, bool knows_epoch);

}  // namespace foretrain
