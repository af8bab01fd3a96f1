// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/cost/detail/context.h"

namespace foretrain::cost {

// What is given must outlive the result.
Context context_for(const hw::Device& device, const Framework& framework, Precision precision,
                    const OperatorModel& model);

}  // namespace foretrain::cost
