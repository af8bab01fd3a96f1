// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/backward.h"
#include "foretrain/graph/rules.h"

namespace foretrain::graph {
namespace {

Attributes slice(std::int64_t axis, std::int64_t start, std::int64_t end) {
  return {{Attr::Axis, {Dim(axis)}}, {Attr::Start, {Dim(start)}}, {Attr::End, {Dim(end)}}};
}

// The attributes of a collective, or of what becomes one in the backward pass.
Attributes of_exchange(const Node& node) {
  Attributes attributes;
  for (const Attr key : {Attr::Among, Attr::Axis, Attr::EveryPass, Attr::Waiting}) {
    if (const std::vector<Dim>* values = node.attributes.find(key)) attributes.set(key, *values);
  }
  return attributes;
}

void give_exchanged(GradientContext& context, Kind kind) {
  Attributes attributes = of_exchange(context.node());
  if (kind == Kind::AllReduce) attributes.set(Attr::Inplace, {Dim(1)});
  context.give(0, context.emit_one(kind, {context.gradient()}, context.in(0), attributes));
}

}  // namespace

void grad_reshape(GradientContext& context) {
  const std::span<const Dim> dims = context.shape(context.in(0)).dims();
  const std::vector<Dim> target(dims.begin(), dims.end());
  context.give(0, context.infer(Kind::Reshape, {context.gradient()}, {{Attr::Shape, target}}));
}

void grad_transpose(GradientContext& context) {
  const std::vector<Dim>& order = *context.node().attributes.find(Attr::Axes);
  std::vector<Dim> inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    inverse[static_cast<std::size_t>(order[i].factor)] = Dim(static_cast<std::int64_t>(i));
  }
  context.give(0, context.infer(Kind::Transpose, {context.gradient()}, {{Attr::Axes, inverse}}));
}

// Where each rank takes its own part of a value that all have, their gradients are put together.
void grad_slice(GradientContext& context) {
  if (context.node().attributes.find(Attr::Among) != nullptr) {
    return give_exchanged(context, Kind::AllGather);
  }
  context.give(0, context.emit_one(Kind::SliceGrad, {context.gradient()}, context.in(0)));
}

// The parts that have a gradient are put together again.
void grad_split(GradientContext& context) {
  std::vector<TensorId> parts;
  for (int i = 0; i < context.outputs(); ++i) {
    if (context.arrived(i)) parts.push_back(context.gradient(i));
  }
  const Attributes axis{{Attr::Axis, {Dim(context.node().attributes.number(Attr::Axis, 0))}}};
  context.give(0, context.emit_one(Kind::Concat, parts, context.in(0), axis));
}

void grad_broadcast_view(GradientContext& context) { context.give(0, context.gradient()); }

void grad_pass(GradientContext& context) { context.give(0, context.gradient()); }

// Ranks that go on with the same value in different ways each have a part of its gradient.
void grad_identity(GradientContext& context) {
  if (context.node().attributes.find(Attr::Among) != nullptr) {
    return give_exchanged(context, Kind::AllReduce);
  }
  grad_pass(context);
}

// What ranks make of the gathered values differs, so their gradients add up; where it does not
// (`Of` is then a slice), each rank takes the gradient of its own part.
void grad_all_gather(GradientContext& context) {
  if (context.node().attributes.find(Attr::Of) == nullptr) {
    return give_exchanged(context, Kind::ReduceScatter);
  }
  const std::int64_t axis = context.node().attributes.number(Attr::Axis, 0);
  const Dim& own = context.shape(context.in(0))[static_cast<int>(axis)];
  context.give(0, context.emit_one(Kind::Slice, {context.gradient()}, context.in(0),
                                   slice(axis, 0, own.factor)));
}

void grad_reduce_scatter(GradientContext& context) { give_exchanged(context, Kind::AllGather); }

void grad_all_to_all(GradientContext& context) { give_exchanged(context, Kind::AllToAll); }

// The stage that got the tensors sends their gradients back.
void grad_send(GradientContext& context) {
  std::vector<TensorId> wanted;
  std::vector<int> places;
  for (int i = 0; i < context.inputs(); ++i) {
    if (!context.needs(i)) continue;
    wanted.push_back(context.in(i));
    places.push_back(i);
  }
  const std::vector<TensorId> arrived =
      context.emit(Kind::Receive, {}, wanted, context.node().attributes);
  for (std::size_t k = 0; k < places.size(); ++k) context.give(places[k], arrived[k]);
}

void grad_receive(GradientContext& context) {
  std::vector<TensorId> gradients;
  for (int i = 0; i < context.outputs(); ++i) {
    if (context.arrived(i)) gradients.push_back(context.gradient(i));
  }
  context.emit(Kind::Send, std::move(gradients), {}, context.node().attributes);
}

void grad_cast(GradientContext& context) { context.give(0, context.gradient()); }

void grad_concat(GradientContext& context) {
  const TensorId dy = context.gradient();
  const int axis = axis_of(context.node(), context.shape(dy), 1);
  std::int64_t start = 0;
  for (int i = 0; i < context.inputs(); ++i) {
    const std::int64_t size = context.shape(context.in(i))[axis].factor;
    if (context.needs(i)) {
      const TensorId part =
          context.emit_one(Kind::Slice, {dy}, context.in(i), slice(axis, start, start + size));
      context.give(i, part);
    }
    start += size;
  }
}

// Of index_copy: index_select of the gradient, expanded as the source, which is saved for that.
// Source: PyTorch, derivatives.yaml.
void grad_pad(GradientContext& context) {
  if (context.node().attributes.number(Attr::Indexed, 0) != 0) {
    const Attributes of{{Attr::Of, {Dim(static_cast<std::int64_t>(Kind::Pad))}}};
    return context.give(
        0, context.emit_one(Kind::PointwiseGrad, {context.gradient(), context.in(0)}, context.in(0),
                            of));
  }
  context.give(0, context.emit_one(Kind::Slice, {context.gradient()}, context.in(0)));
}

// Top-k is a gather by the indices that it found itself.
void grad_gather(GradientContext& context) {
  const TensorId indices = context.node().kind == Kind::TopK ? context.out(1) : context.in(1);
  context.give(0, context.emit_one(Kind::GatherGrad, {context.gradient(), indices}, context.in(0)));
}

void grad_upsample(GradientContext& context) {
  context.give(0, context.emit_one(Kind::UpsampleGrad, {context.gradient()}, context.in(0)));
}

void grad_roll(GradientContext& context) {
  context.give(0, context.emit_one(Kind::Roll, {context.gradient()}, context.in(0)));
}

}  // namespace foretrain::graph
