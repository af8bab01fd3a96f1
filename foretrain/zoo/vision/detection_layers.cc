// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/vision/detection_layers.h"

#include <algorithm>

#include "foretrain/zoo/vision/vision_layers.h"

namespace foretrain::zoo {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::Shape;
using graph::TensorId;

SharedConv shared_conv(Builder& b, const std::string& name, std::int64_t in, std::int64_t out,
                       std::int64_t kernel) {
  const Scope scope(b, name);
  return {name, b.parameter("weight", {out, in, kernel, kernel}), b.parameter("bias", {out})};
}

TensorId apply(Builder& b, const SharedConv& layer, TensorId x) {
  const Scope scope(b, layer.name);
  Attributes attributes;
  const std::int64_t padding = b.shape(layer.weight)[2].factor / 2;
  if (padding > 0) attributes.set(Attr::Padding, {padding});
  return b.add(Kind::Conv, {x, layer.weight, layer.bias}, attributes);
}

std::vector<TensorId> feature_pyramid(Builder& b, const std::vector<TensorId>& features) {
  constexpr std::int64_t kChannels = 256;
  const Scope scope(b, "fpn");
  std::vector<TensorId> maps(features.size());
  TensorId above{};
  for (std::size_t i = features.size(); i-- > 0;) {
    const std::string index = std::to_string(i);
    TensorId x =
        conv(b, "inner_blocks." + index + ".0", features[i], {.channels = kChannels, .bias = true});
    if (i + 1 < features.size()) x = b.add(Kind::Add, {x, resize(b, above, image_size(b, x))});
    above = x;
    maps[i] = conv(b, "layer_blocks." + index + ".0", x,
                   {.channels = kChannels, .kernel = 3, .padding = 1, .bias = true});
  }
  return maps;
}

TensorId by_anchor(Builder& b, TensorId x, std::int64_t columns) {
  const Shape shape = b.shape(x);
  x = b.add(Kind::Reshape, {x}, {{Attr::Shape, {0, -1, columns, shape[2], shape[3]}}});
  x = b.add(Kind::Transpose, {x}, {{Attr::Axes, {0, 3, 4, 1, 2}}});
  x = b.add(Kind::Contiguous, {x});
  return b.add(Kind::Reshape, {x}, {{Attr::Shape, {0, -1, columns}}});
}

TensorId pick(Builder& b, const std::string& name, TensorId x, std::int64_t count) {
  const TensorId index = b.buffer(name, {count}, DType::I64);
  return b.add(Kind::Gather, {x, index}, {{Attr::Axis, {1}}});
}

TensorId pointwise_loss(Builder& b, const std::string& name, TensorId predictions) {
  const Scope scope(b, name);
  const TensorId wanted = b.input(name + "_targets", b.shape(predictions));
  return b.add(Kind::PointwiseLoss, {predictions, wanted});
}

TensorId class_loss(Builder& b, const std::string& name, TensorId logits) {
  const Shape shape = b.shape(logits);
  Shape each;
  for (int i = 0; i + 1 < shape.rank(); ++i) each.push_back(shape[i]);
  return cross_entropy(b, name, logits, b.input(name + "_targets", each, DType::I64));
}

Matching matching(Spec& spec) {
  return {spec.take("objects", 0, 0, 10000), spec.take("overlap_values", 10, 1, 100)};
}

void match(Builder& b, const Matching& matching, std::int64_t anchors) {
  if (matching.objects == 0) return;
  const Scope scope(b, "matching");
  const TensorId boxes = b.buffer("anchors", {1, anchors});
  const TensorId pairs = b.buffer("objects", {matching.objects * matching.values}, DType::I64);
  b.add(Kind::Gather, {boxes, pairs}, {{Attr::Axis, {0}}});
}

// "One minus" is one kernel, here a negation.
TensorId focal_loss(Builder& b, TensorId logits) {
  const Scope scope(b, "classification_loss");
  const auto mul = [&](TensorId x, TensorId y) { return b.add(Kind::Mul, {x, y}); };
  const TensorId valid = b.add(Kind::Contiguous, {logits});
  const TensorId wanted = b.add(Kind::Cast, {b.add(Kind::Compare, {logits})},
                                {{Attr::Type, {static_cast<std::int64_t>(DType::F32)}}});
  const TensorId p = b.add(Kind::Sigmoid, {valid});
  const TensorId entropy = b.add(Kind::Softplus, {valid});
  const TensorId other = b.add(Kind::Neg, {wanted});
  const TensorId right = b.add(Kind::Add, {mul(p, wanted), mul(b.add(Kind::Neg, {p}), other)});
  const TensorId loss = mul(entropy, b.add(Kind::Pow, {b.add(Kind::Neg, {right})}));
  const TensorId balance =
      b.add(Kind::Add, {b.add(Kind::Scale, {wanted}), b.add(Kind::Scale, {other})});
  return b.add(Kind::Scale, {b.add(Kind::Sum, {mul(balance, loss)})});
}

void sum_losses(Builder& b, const std::vector<TensorId>& losses) {
  b.loss(losses.size() == 1 ? losses.front() : b.add(Kind::Add, losses));
}

void freeze(graph::Graph& graph, const std::vector<std::string>& prefixes) {
  for (graph::Tensor& tensor : graph.tensors) {
    if (std::any_of(prefixes.begin(), prefixes.end(),
                    [&](const std::string& prefix) { return tensor.name.starts_with(prefix); })) {
      tensor.trainable = false;
    }
  }
}

}  // namespace foretrain::zoo
