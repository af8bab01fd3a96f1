// SPDX-License-Identifier: Apache-2.0
// Normalization.
#include <array>
#include <utility>

#include "foretrain/importer/onnx/rules.h"

namespace foretrain::importer {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Dim;
using graph::Kind;
using graph::Shape;
using graph::TensorId;

constexpr std::string_view kMicrosoft = "com.microsoft";

void batch_norm(const OnnxCall& call, Kind kind) {
  if (call.rank(0) < 2) OnnxCall::fail("takes [batch, channels, ...]");
  const std::vector<TensorId> inputs{call.tensor(0), call.weight(1), call.weight(2),
                                     statistics_of(call, call.in(3)),
                                     statistics_of(call, call.in(4))};
  call.give(0, call.emit(kind, inputs));
  // Training writes the statistics back; nothing of the model reads them.
  for (int i = 1; i < static_cast<int>(call.node().outputs.size()); ++i) {
    call.give(i, inputs[i % 2 == 1 ? 3 : 4]);
  }
}

// A norm with weights that fit it; others are multiplied and added afterwards.
TensorId emit_norm(const OnnxCall& call, Kind kind, TensorId x, const Attributes& attributes,
                   const std::vector<TensorId>& weights, const Shape& each) {
  bool fit = true;
  for (const TensorId id : weights) fit = fit && call.shape_of(id) == each;
  std::vector<TensorId> inputs{x};
  if (fit) inputs.insert(inputs.end(), weights.begin(), weights.end());
  TensorId result = call.emit(kind, inputs, attributes);
  if (fit) return result;
  if (!weights.empty()) result = call.emit(Kind::Mul, {result, weights[0]});
  if (weights.size() > 1) result = call.emit(Kind::Add, {result, weights[1]});
  return result;
}

std::vector<TensorId> weights_from(const OnnxCall& call, int first, int most) {
  std::vector<TensorId> weights;
  for (int i = first; i < first + most; ++i) {
    if (call.has(i)) weights.push_back(call.weight(i));
  }
  return weights;
}

// Over the axes from `axis` to the last.
TensorId norm_over(const OnnxCall& call, Kind kind, TensorId x, int axis,
                   const std::vector<TensorId>& weights) {
  const Shape shape = call.shape_of(x);
  const int trailing = shape.rank() - axis;
  const Shape each(shape.dims().last(static_cast<std::size_t>(trailing)));
  Attributes attributes;
  if (trailing != 1) attributes.set(Attr::Axes, {Dim(trailing)});
  return emit_norm(call, kind, x, attributes, weights, each);
}

void layer_norm(const OnnxCall& call, Kind kind) {
  const int axis = call.axis_attribute("axis", -1, call.rank(0));
  const int most = kind == Kind::RmsNorm ? 1 : 2;
  const TensorId x = call.tensor(0);
  call.give(0, norm_over(call, kind, x, axis, weights_from(call, 1, most)));
  Shape rows = call.shape(0);
  for (int i = axis; i < rows.rank(); ++i) rows[i] = Dim(1);
  for (const int i : {1, 2}) {  // mean and deviation, which hardly any model reads
    if (call.wants(i)) call.give(i, call.emit_opaque({x}, {rows}, DType::F32).front());
  }
}

// Adds what skipped the layer, and a bias, before the norm; the sum is an output too.
void skip_layer_norm(const OnnxCall& call, Kind kind) {
  TensorId sum = call.emit(Kind::Add, {call.tensor(0), call.tensor(1)});
  const int bias = kind == Kind::RmsNorm ? 3 : 4;
  if (call.has(bias)) sum = call.emit(Kind::Add, {sum, call.weight(bias)});
  const int most = kind == Kind::RmsNorm ? 1 : 2;
  const int axis = call.shape_of(sum).rank() - 1;
  if (axis < 0) OnnxCall::fail("takes no scalars");
  call.give(0, norm_over(call, kind, sum, axis, weights_from(call, 2, most)));
  call.give(3, sum);
}

// Words, positions and segments looked up and added, then a norm.
void embed_layer_norm(const OnnxCall& call, Kind /*kind*/) {
  const Shape ids = call.shape(0);
  if (ids.rank() != 2) OnnxCall::fail("takes [batch, sequence]");
  TensorId sum = call.emit(Kind::Embedding, {call.tensor(0), call.weight(2)});
  const TensorId positions =
      call.has(8) ? call.tensor(8)
                  : add_buffer(call.all(), "position_ids", {Dim(1), ids[1]}, DType::I64);
  sum = call.emit(Kind::Add, {sum, call.emit(Kind::Embedding, {positions, call.weight(3)})});
  if (call.has(1) && call.has(4)) {
    sum = call.emit(Kind::Add, {sum, call.emit(Kind::Embedding, {call.tensor(1), call.weight(4)})});
  }
  call.give(0, norm_over(call, Kind::LayerNorm, sum, 2, weights_from(call, 5, 2)));
  if (call.wants(1)) call.give(1, add_buffer(call.all(), "mask_index", {ids[0]}, DType::I32));
  call.give(2, sum);
}

void group_norm(const OnnxCall& call, Kind kind) {
  const Shape x = call.shape(0);
  if (x.rank() < 2) OnnxCall::fail("takes [batch, channels, ...]");
  const bool instance = call.node().op_type == "InstanceNormalization";
  const std::int64_t groups = instance ? x[1].factor : call.integer("num_groups", 1);
  Dim per_group;
  if (groups < 1 || !is_number(x[1]) || !divides(Dim(groups), x[1], per_group)) {
    OnnxCall::fail("the groups do not divide the channels");
  }
  std::vector<TensorId> weights{call.weight(1), call.weight(2)};
  const bool per_channel = call.shape_of(weights[0]) == Shape{x[1]};
  if (!per_channel) {  // one per group until operator set 20: repeated for each of its channels
    for (TensorId& id : weights) {
      const Shape column{Dim(groups), Dim(1)};
      const TensorId wide = call.emit(Kind::Expand, {call.reshape(id, column)},
                                      {{Attr::Shape, {Dim(groups), per_group}}});
      id = call.reshape(call.emit(Kind::Contiguous, {wide}), {x[1]});
    }
  }
  call.give(0, call.emit(kind, {call.tensor(0), weights[0], weights[1]},
                         {{Attr::Groups, {Dim(groups)}}}));
}

// Channels last, with an activation that may follow.
void nhwc_group_norm(const OnnxCall& call, Kind kind) {
  if (call.rank(0) != 4 || call.integer("channels_last", 1) == 0) return translate_unknown(call);
  const TensorId x = call.transpose(call.tensor(0), {0, 3, 1, 2});
  const std::int64_t groups = call.integer("groups", 1);
  TensorId y =
      call.emit(kind, {x, call.weight(1), call.weight(2)}, {{Attr::Groups, {Dim(groups)}}});
  if (call.integer("activation", 0) == 1) y = call.emit(Kind::Silu, {y});
  call.give(0, call.transpose(y, {0, 2, 3, 1}));
}

void opaque(const OnnxCall& call, Kind /*kind*/) { give_opaque_like(call); }

constexpr std::array kRules{
    OnnxRule{"BatchNormalization", batch_norm, Kind::BatchNorm},
    OnnxRule{"InstanceNormalization", group_norm, Kind::GroupNorm},
    OnnxRule{"GroupNormalization", group_norm, Kind::GroupNorm},
    OnnxRule{"LayerNormalization", layer_norm, Kind::LayerNorm},
    OnnxRule{"RMSNormalization", layer_norm, Kind::RmsNorm},
    OnnxRule{"SimplifiedLayerNormalization", layer_norm, Kind::RmsNorm},
    OnnxRule{"SimplifiedLayerNormalization", layer_norm, Kind::RmsNorm, kMicrosoft},
    OnnxRule{"SkipLayerNormalization", skip_layer_norm, Kind::LayerNorm, kMicrosoft},
    OnnxRule{"SkipSimplifiedLayerNormalization", skip_layer_norm, Kind::RmsNorm, kMicrosoft},
    OnnxRule{"EmbedLayerNormalization", embed_layer_norm, Kind::LayerNorm, kMicrosoft},
    OnnxRule{"GroupNorm", nhwc_group_norm, Kind::GroupNorm, kMicrosoft},
    OnnxRule{"LRN", opaque},
    OnnxRule{"LpNormalization", opaque},
    OnnxRule{"MeanVarianceNormalization", opaque},
};

}  // namespace

std::span<const OnnxRule> onnx_norm_rules() { return kRules; }

}  // namespace foretrain::importer
