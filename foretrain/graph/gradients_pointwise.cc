// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/backward.h"
#include "foretrain/graph/rules.h"

namespace foretrain::graph {
namespace {

Attributes of(const GradientContext& context) {
  return {{Attr::Of, {Dim(static_cast<std::int64_t>(context.node().kind))}}};
}

// An element-wise gradient of input `i` from dy and what else it needs; as large as dy.
void give_pointwise(GradientContext& context, int i, std::vector<TensorId> inputs) {
  if (!context.needs(i)) return;
  context.give(
      i, context.emit_one(Kind::PointwiseGrad, std::move(inputs), context.out(0), of(context)));
}

}  // namespace

void grad_from_input(GradientContext& context) {
  give_pointwise(context, 0, {context.gradient(), context.in(0)});
}

void grad_from_output(GradientContext& context) {
  give_pointwise(context, 0, {context.gradient(), context.out(0)});
}

void grad_linear_unary(GradientContext& context) {
  give_pointwise(context, 0, {context.gradient()});
}

void grad_add(GradientContext& context) {
  for (int i = 0; i < context.inputs(); ++i) context.give(i, context.gradient());
}

void grad_sub(GradientContext& context) {
  context.give(0, context.gradient());
  give_pointwise(context, 1, {context.gradient()});
}

void grad_mul(GradientContext& context) {
  const TensorId dy = context.gradient();
  give_pointwise(context, 0, {dy, context.in(1)});
  give_pointwise(context, 1, {dy, context.in(0)});
}

void grad_div(GradientContext& context) {
  const TensorId dy = context.gradient();
  give_pointwise(context, 0, {dy, context.in(1)});
  give_pointwise(context, 1, {dy, context.in(0), context.in(1)});
}

// The gradient goes to whichever input was taken; `where` has its condition first.
void grad_select(GradientContext& context) {
  const TensorId dy = context.gradient();
  if (context.node().kind == Kind::Where) {
    for (int i = 1; i < context.inputs(); ++i) give_pointwise(context, i, {dy, context.in(0)});
    return;
  }
  for (int i = 0; i < 2; ++i) give_pointwise(context, i, {dy, context.in(0), context.in(1)});
}

void grad_dropout(GradientContext& context) {
  give_pointwise(context, 0, {context.gradient(), context.out(1)});
}

void grad_softmax(GradientContext& context) {
  context.give(0, context.emit_one(Kind::SoftmaxGrad, {context.gradient(), context.out(0)},
                                   context.in(0), of(context)));
}

void grad_norm(GradientContext& context) {
  std::vector<TensorId> inputs{context.gradient(), context.in(0), context.out(1)};
  if (context.inputs() > 1) inputs.push_back(context.in(1));
  std::vector<TensorId> like{context.in(0)};
  for (int i = 1; i < 3; ++i) {
    if (context.needs(i)) like.push_back(context.in(i));
  }
  Attributes attributes = of(context);
  for (const Attr key : {Attr::Axes, Attr::Groups}) {
    if (const std::vector<Dim>* values = context.node().attributes.find(key)) {
      attributes.set(key, *values);
    }
  }
  const std::vector<TensorId> gradients = context.emit(Kind::NormGrad, inputs, like, attributes);
  context.give(0, gradients[0]);
  std::size_t next = 1;
  for (int i = 1; i < 3; ++i) {
    if (context.needs(i)) context.give(i, gradients[next++]);
  }
}

// Each input value gets its output's gradient: a view, for a mean scaled by 1 / count.
void grad_reduce(GradientContext& context) {
  const TensorId spread = context.emit_one(Kind::Expand, {context.gradient()}, context.in(0));
  if (context.node().kind == Kind::Mean) {
    context.give(0, context.emit_one(Kind::Scale, {spread}, context.in(0)));
  } else {
    context.give(0, spread);
  }
}

void grad_pool(GradientContext& context) {
  std::vector<TensorId> inputs{context.gradient(), context.in(0)};
  if (context.outputs() > 1) inputs.push_back(context.out(1));
  Attributes attributes = context.node().attributes;
  attributes.set(Attr::Of, {Dim(static_cast<std::int64_t>(context.node().kind))});
  context.give(0, context.emit_one(Kind::PoolGrad, inputs, context.in(0), attributes));
}

// Cross entropy keeps the log-probabilities, other losses the prediction.
void grad_loss(GradientContext& context) {
  const TensorId kept = context.outputs() > 1 ? context.out(1) : context.in(0);
  context.give(0, context.emit_one(Kind::LossGrad, {context.gradient(), kept, context.in(1)},
                                   context.in(0), of(context)));
}

}  // namespace foretrain::graph
