// SPDX-License-Identifier: Apache-2.0
// What the rows of op_table.cc point to: shape rules (infer_*), counts (work_*) and gradients
// (grad_*), by family.
#pragma once

#include <vector>

#include "foretrain/graph/op.h"

namespace foretrain::graph {

using Shapes = std::vector<Shape>;

// Throws Error(BadInput) with `message` unless `fits`.
void require(bool fits, const char* message);
void require_inputs(const Shapes& inputs, std::size_t least, std::size_t most);
// Axis counted from the front; negative ones count from the end.
int axis_of(const Node& node, const Shape& shape, std::int64_t otherwise);
// The shape that two shapes broadcast to.
Shape broadcast(const Shape& a, const Shape& b);

// Size of an axis after a window has moved over it (convolution, pooling), and the inverse (a
// transposed convolution). `spatial` is the number of spatial axes.
Dim windowed(const Node& node, const Dim& size, int axis, int spatial, std::int64_t kernel,
             bool ceil_mode);
Dim unwindowed(const Node& node, const Dim& size, int axis, std::int64_t kernel);

// Throws Error(BadInput) unless there are the tensors, and of the ranks, that counts and costs
// of the operator look at. For nodes whose shapes are not inferred (verify_form.cc).
void require_form(Kind kind, const Shapes& inputs, const Shapes& outputs);

// infer_views.cc
Shapes infer_same(const Node&, const Shapes&);
Shapes infer_dequantize(const Node&, const Shapes&);
Shapes infer_reshape(const Node&, const Shapes&);
Shapes infer_transpose(const Node&, const Shapes&);
Shapes infer_slice(const Node&, const Shapes&);
Shapes infer_split(const Node&, const Shapes&);
Shapes infer_expand(const Node&, const Shapes&);
Shapes infer_concat(const Node&, const Shapes&);
Shapes infer_pad(const Node&, const Shapes&);
Shapes infer_gather(const Node&, const Shapes&);
Shapes infer_upsample(const Node&, const Shapes&);

// infer_gemm.cc
Shapes infer_linear(const Node&, const Shapes&);
Shapes infer_matmul(const Node&, const Shapes&);
Shapes infer_conv(const Node&, const Shapes&);
Shapes infer_attention(const Node&, const Shapes&);
Shapes infer_recurrent(const Node&, const Shapes&);
Shapes infer_embedding(const Node&, const Shapes&);

// infer_axes.cc
Shapes infer_broadcast(const Node&, const Shapes&);
Shapes infer_dropout(const Node&, const Shapes&);
Shapes infer_norm(const Node&, const Shapes&);
Shapes infer_reduce(const Node&, const Shapes&);
Shapes infer_top_k(const Node&, const Shapes&);
Shapes infer_pool(const Node&, const Shapes&);
Shapes infer_adaptive_pool(const Node&, const Shapes&);
Shapes infer_loss(const Node&, const Shapes&);
Shapes infer_given(const Node&, const Shapes&);  // gradients and updates: shapes come with them

// work.cc
Work work_none(const NodeView&);
Work work_copy(const NodeView&);
Work work_dequantize(const NodeView&);
Work work_linear(const NodeView&);
Work work_matmul(const NodeView&);
Work work_conv(const NodeView&);
Work work_conv_grad(const NodeView&);
Work work_attention(const NodeView&);
Work work_attention_grad(const NodeView&);
Work work_recurrent(const NodeView&);
Work work_recurrent_grad(const NodeView&);
Work work_lookup(const NodeView&);
Work work_lookup_grad(const NodeView&);
Work work_pointwise(const NodeView&);
Work work_fused(const NodeView&);
Work work_norm(const NodeView&);
Work work_norm_grad(const NodeView&);
Work work_update(const NodeView&);
Work work_fill(const NodeView&);

// gradients_*.cc
void grad_reshape(GradientContext&);
void grad_transpose(GradientContext&);
void grad_slice(GradientContext&);
void grad_split(GradientContext&);
void grad_broadcast_view(GradientContext&);  // expand
void grad_pass(GradientContext&);            // contiguous, shift, a forward all-reduce
void grad_identity(GradientContext&);        // an all-reduce where ranks use the same value
void grad_all_gather(GradientContext&);
void grad_reduce_scatter(GradientContext&);
void grad_all_to_all(GradientContext&);
void grad_cast(GradientContext&);
void grad_concat(GradientContext&);
void grad_pad(GradientContext&);
void grad_gather(GradientContext&);
void grad_upsample(GradientContext&);
void grad_roll(GradientContext&);
void grad_send(GradientContext&);
void grad_receive(GradientContext&);
void grad_linear(GradientContext&);
void grad_matmul(GradientContext&);
void grad_conv(GradientContext&);
void grad_attention(GradientContext&);
void grad_recurrent(GradientContext&);
void grad_embedding(GradientContext&);
void grad_from_input(GradientContext&);    // gelu, silu, ...: needs what came in
void grad_from_output(GradientContext&);   // relu, sigmoid, tanh, ...: needs what went out
void grad_linear_unary(GradientContext&);  // neg, scale: needs nothing
void grad_add(GradientContext&);
void grad_sub(GradientContext&);
void grad_mul(GradientContext&);
void grad_div(GradientContext&);
void grad_select(GradientContext&);  // maximum, minimum, where
void grad_dropout(GradientContext&);
void grad_softmax(GradientContext&);
void grad_norm(GradientContext&);
void grad_reduce(GradientContext&);
void grad_pool(GradientContext&);
void grad_loss(GradientContext&);
void grad_opaque(GradientContext&);

}  // namespace foretrain::graph
