// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/backward.h"
#include "foretrain/graph/rules.h"

namespace foretrain::graph {
namespace {

// A view of [..., k] as [rows, k].
TensorId as_matrix(GradientContext& context, TensorId id) {
  const Shape& shape = context.shape(id);
  if (shape.rank() == 2) return id;
  return context.infer(Kind::Reshape, {id}, {{Attr::Shape, {Dim(-1), shape[shape.rank() - 1]}}});
}

Attributes transposes(bool a, bool b) {
  return {{Attr::TransposeA, {Dim(a ? 1 : 0)}}, {Attr::TransposeB, {Dim(b ? 1 : 0)}}};
}

}  // namespace

// y = x w' + b:  dx = dy w,  dw = dy' x,  db = sum dy.
void grad_linear(GradientContext& context) {
  const TensorId dy = context.gradient();
  if (context.needs(0) && context.shape(dy).rank() == 1) {  // a vector is a matrix of one row
    const TensorId dx = context.infer(Kind::MatMul, {as_matrix(context, dy), context.in(1)});
    context.give(0, context.infer(Kind::Reshape, {dx}, {{Attr::Shape, {Dim(-1)}}}));
  } else if (context.needs(0)) {
    context.give(0, context.emit_one(Kind::MatMul, {dy, context.in(1)}, context.in(0)));
  }
  if (context.needs(1)) {
    const TensorId rows = as_matrix(context, dy);
    const TensorId x = as_matrix(context, context.in(0));
    context.give(1, context.infer(Kind::MatMul, {rows, x}, transposes(true, false)));
  }
  if (context.needs(2)) context.give(2, context.emit_one(Kind::SumTo, {dy}, context.in(2)));
}

// With A = op(a), B = op(b), Y = A B:  dA = dY B',  dB = A' dY, each transposed back.
void grad_matmul(GradientContext& context) {
  const TensorId dy = context.gradient();
  const bool ta = context.node().attributes.number(Attr::TransposeA, 0) != 0;
  const bool tb = context.node().attributes.number(Attr::TransposeB, 0) != 0;
  if (context.needs(0)) {
    context.give(0, ta ? context.infer(Kind::MatMul, {context.in(1), dy}, transposes(tb, true))
                       : context.infer(Kind::MatMul, {dy, context.in(1)}, transposes(false, !tb)));
  }
  if (context.needs(1)) {
    context.give(1, tb ? context.infer(Kind::MatMul, {dy, context.in(0)}, transposes(true, ta))
                       : context.infer(Kind::MatMul, {context.in(0), dy}, transposes(!ta, false)));
  }
}

void grad_conv(GradientContext& context) {
  const TensorId dy = context.gradient();
  const Attributes& attributes = context.node().attributes;
  if (context.needs(0)) {
    context.give(
        0, context.emit_one(Kind::ConvInputGrad, {dy, context.in(1)}, context.in(0), attributes));
  }
  if (context.needs(1)) {
    context.give(
        1, context.emit_one(Kind::ConvWeightGrad, {dy, context.in(0)}, context.in(1), attributes));
  }
  if (context.needs(2)) context.give(2, context.emit_one(Kind::SumTo, {dy}, context.in(2)));
}

void grad_attention(GradientContext& context) {
  std::vector<TensorId> inputs{context.gradient(), context.in(0),  context.in(1),
                               context.in(2),      context.out(0), context.out(1)};
  std::vector<TensorId> like{context.in(0), context.in(1), context.in(2)};
  if (context.inputs() > 3) inputs.push_back(context.in(3));
  if (context.needs(3)) like.push_back(context.in(3));
  const std::vector<TensorId> gradients =
      context.emit(Kind::AttentionGrad, inputs, like, context.node().attributes);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    context.give(static_cast<int>(i), gradients[i]);
  }
}

void grad_recurrent(GradientContext& context) {
  if (!context.arrived(0)) return;
  std::vector<TensorId> inputs{context.gradient()};
  std::vector<TensorId> like;
  for (int i = 0; i < context.inputs(); ++i) {
    inputs.push_back(context.in(i));
    if (context.needs(i)) like.push_back(context.in(i));
  }
  for (int i = 0; i < context.outputs(); ++i) inputs.push_back(context.out(i));
  const std::vector<TensorId> gradients =
      context.emit(Kind::RecurrentGrad, inputs, like, context.node().attributes);
  std::size_t next = 0;
  for (int i = 0; i < context.inputs(); ++i) {
    if (context.needs(i)) context.give(i, gradients[next++]);
  }
}

void grad_embedding(GradientContext& context) {
  if (!context.needs(1)) return;
  context.give(
      1, context.emit_one(Kind::EmbeddingGrad, {context.gradient(), context.in(0)}, context.in(1)));
}

// Nothing is known of it, so its gradient is as unknown: what it saw and what came back go in.
void grad_opaque(GradientContext& context) {
  std::vector<TensorId> inputs;
  for (int i = 0; i < context.outputs(); ++i) {
    if (context.arrived(i)) inputs.push_back(context.gradient(i));
  }
  std::vector<TensorId> like;
  for (int i = 0; i < context.inputs(); ++i) {
    inputs.push_back(context.in(i));
    if (context.needs(i)) like.push_back(context.in(i));
  }
  const std::vector<TensorId> gradients = context.emit(Kind::Opaque, inputs, like);
  std::size_t next = 0;
  for (int i = 0; i < context.inputs(); ++i) {
    if (context.needs(i)) context.give(i, gradients[next++]);
  }
}

}  // namespace foretrain::graph
