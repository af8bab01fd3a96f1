// SPDX-License-Identifier: Apache-2.0
// The parts of the operator model: times by family of operators, the host's, and shared power.
#pragma once

#include <span>

#include "foretrain/base/seconds.h"
#include "foretrain/cost/detail/context.h"
#include "foretrain/cost/op_time.h"
#include "foretrain/graph/op.h"

namespace foretrain::cost {

// Linear and MatMul.
OpTime matrix_time(const graph::NodeView& v, const Context& context);
// Convolutions and their gradients.
OpTime conv_time(const graph::NodeView& v, const Context& context,
                 ConvAlgorithm algorithm = ConvAlgorithm::Fastest);
// Fused attention and its gradient.
OpTime attention_time(const graph::NodeView& v, const graph::Work& work, const Context& context);
// cuDNN's recurrent layers and their gradient.
OpTime recurrent_time(const graph::NodeView& v, const Context& context);
// All that is memory-bound.
OpTime memory_bound_time(const graph::NodeView& v, const graph::Work& work, const Context& context);
// The optimizer's update, and zeroing of gradients.
OpTime update_time(const graph::NodeView& v, const graph::Work& work, const Context& context);
// Any operator on a CPU.
OpTime cpu_time(const graph::NodeView& v, const graph::Work& work, const Context& context);

// The analytic model: tiles and waves for GEMMs, passes over memory for the rest.
OpTime analytic_time(const graph::NodeView& v, const graph::Work& work, const Context& context);

// OperatorTimer::share_power.
void share_power(std::span<OpTime> step, const Context& context);

// Time that the host needs to issue a node, on the reference machine.
Seconds host_time(const graph::NodeView& v, const Context& context);

}  // namespace foretrain::cost
