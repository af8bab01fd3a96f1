// SPDX-License-Identifier: Apache-2.0
// The operator models that analytic_time chooses from, by family.
#pragma once

#include "foretrain/cost/op_time.h"

namespace foretrain::cost {

// Linear and MatMul.
OpTime matrix_time(const graph::NodeView& v, const Context& context);
// How a convolution on vector units is computed: the fastest way, or one that is known.
enum class ConvAlgorithm : std::uint8_t { Fastest, Implicit, FusedWinograd, UnfusedWinograd };

// Convolutions and their gradients.
OpTime conv_time(const graph::NodeView& v, const Context& context,
                 ConvAlgorithm algorithm = ConvAlgorithm::Fastest);
// Fused attention and its gradient.
OpTime attention_time(const graph::NodeView& v, const graph::Work& work, const Context& context);
// cuDNN's recurrent layers and their gradient.
OpTime recurrent_time(const graph::NodeView& v, const Context& context);
// All that streams its tensors.
OpTime memory_bound_time(const graph::NodeView& v, const graph::Work& work, const Context& context);
// The optimizer's update, and zeroing of gradients.
OpTime update_time(const graph::NodeView& v, const graph::Work& work, const Context& context);
// Any operator on a CPU.
OpTime cpu_time(const graph::NodeView& v, const graph::Work& work, const Context& context);

}  // namespace foretrain::cost
