// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/cost/detail/context.h"

namespace foretrain::cost {

// Sets the rates at which fused attention runs. Source: docs/models/attention.md.
void set_attention_rates(Context& context, const hw::Device& device);

}  // namespace foretrain::cost
