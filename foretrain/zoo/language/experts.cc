// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/language/experts.h"

#include "foretrain/zoo/detail/activation.h"
#include "foretrain/zoo/language/transformer_layers.h"

namespace foretrain::zoo {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Dim;
using graph::Kind;
using graph::Scope;
using graph::Shape;
using graph::TensorId;

namespace {

TensorId reshape(Builder& builder, TensorId x, std::vector<Dim> shape) {
  return builder.add(Kind::Reshape, {x}, Attributes{{Attr::Shape, std::move(shape)}});
}

// What the router decides for every token.
struct Routing {
  TensorId weights;  // [tokens, active, 1], of which each token's add up to one
  TensorId chosen;   // [tokens, active], where each token's copies lie among the sorted ones
};

Routing route(Builder& builder, TensorId tokens, const Experts& experts) {
  const TensorId logits = linear_unbiased(builder, "gate", tokens, experts.count);
  const TensorId probabilities =
      builder.add(Kind::Softmax, {logits}, Attributes{{Attr::Axis, {-1}}});
  const std::vector<TensorId> best = builder.add_all(
      Kind::TopK, {probabilities}, Attributes{{Attr::Axis, {-1}}, {Attr::Sizes, {experts.active}}});
  const TensorId total =
      builder.add(Kind::Sum, {best[0]}, Attributes{{Attr::Axes, {1}}, {Attr::KeepDims, {1}}});
  const TensorId weights = builder.add(Kind::Div, {best[0], total});
  // A counting sort by expert is a running sum over the choices.
  const TensorId chosen = builder.add(Kind::CumSum, {best[1]}, Attributes{{Attr::Axis, {0}}});
  return {reshape(builder, weights, {0, 0, 1}), chosen};
}

// The tokens' numbers by expert: [count, batch * capacity].
TensorId sorted_by_expert(Builder& builder, TensorId chosen, const Experts& experts,
                          std::int64_t seq) {
  const std::int64_t capacity = tokens_per_expert(experts, seq);
  TensorId order = reshape(builder, chosen, {builder.batch(), seq * experts.active});
  const std::int64_t spare = experts.count * capacity - seq * experts.active;
  if (spare > 0) {
    order = builder.add(Kind::Pad, {order}, Attributes{{Attr::Padding, {0, 0, 0, spare}}});
  }
  order = reshape(builder, order, {0, experts.count, capacity});
  order = builder.add(Kind::Transpose, {order}, Attributes{{Attr::Axes, {1, 0, 2}}});
  return reshape(builder, order, {0, -1});
}

// x [count, rows, in] through one matrix per expert.
TensorId project(Builder& builder, const std::string& name, TensorId x, std::int64_t features) {
  const Scope scope(builder, name);
  const Shape& shape = builder.shape(x);
  const TensorId weight = builder.parameter("weight", {shape[0], features, shape[2]});
  return builder.add(Kind::MatMul, {x, weight}, Attributes{{Attr::TransposeB, {1}}});
}

}  // namespace

std::int64_t tokens_per_expert(const Experts& experts, std::int64_t seq) {
  return (seq * experts.active + experts.count - 1) / experts.count;
}

TensorId sparse_feed_forward(Builder& builder, TensorId x, const Experts& experts, std::int64_t ffn,
                             const std::string& activation) {
  const Scope scope(builder, "block_sparse_moe");
  const std::int64_t seq = builder.shape(x)[1].factor;
  const std::int64_t width = builder.shape(x)[2].factor;
  const TensorId tokens = reshape(builder, x, {-1, width});
  const Routing routing = route(builder, tokens, experts);
  const TensorId order = sorted_by_expert(builder, routing.chosen, experts, seq);
  const TensorId routed = builder.add(Kind::Gather, {tokens, order}, Attributes{{Attr::Axis, {0}}});
  TensorId y{};
  {
    const Scope inner(builder, "experts");
    const TensorId gate = activate(builder, activation, project(builder, "w1", routed, ffn));
    const TensorId up = project(builder, "w3", routed, ffn);
    y = project(builder, "w2", builder.add(Kind::Mul, {gate, up}), width);
  }
  const TensorId rows = reshape(builder, y, {-1, width});
  const TensorId back =
      builder.add(Kind::Gather, {rows, routing.chosen}, Attributes{{Attr::Axis, {0}}});
  const TensorId weighed = builder.add(Kind::Mul, {back, routing.weights});
  const TensorId sum = builder.add(Kind::Sum, {weighed}, Attributes{{Attr::Axes, {1}}});
  return reshape(builder, sum, {builder.batch(), seq, width});
}

}  // namespace foretrain::zoo
