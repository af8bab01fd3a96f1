// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/vision/segmentation_layers.h"

#include "foretrain/zoo/vision/vision_layers.h"

namespace foretrain::zoo {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::Shape;
using graph::TensorId;

TensorId pixel_targets(Builder& b, Pair image) {
  return b.input("targets", {b.batch(), image.height, image.width}, DType::I64);
}

PixelLoss pixel_loss(Builder& b, const std::string& name, TensorId logits, Pair image,
                     TensorId targets) {
  const TensorId full = resize(b, logits, image);
  return {full, cross_entropy(b, name, full, targets)};
}

void weigh_losses(Builder& b, TensorId main, TensorId aux) {
  const Scope scope(b, "loss");
  b.loss(b.add(Kind::Add, {main, b.add(Kind::Scale, {aux})}));
}

TensorId dice_loss(Builder& b, const std::string& name, TensorId probabilities) {
  const Scope scope(b, name);
  const TensorId truth = b.add(Kind::Cast, {b.add(Kind::Compare, {probabilities})},
                               {{Attr::Type, {static_cast<std::int64_t>(DType::F32)}}});
  const auto total = [&](TensorId x) { return b.add(Kind::Sum, {x}); };
  const TensorId shared = total(b.add(Kind::Mul, {probabilities, truth}));
  const TensorId both = b.add(Kind::Add, {total(probabilities), total(truth)});
  const TensorId ratio = b.add(Kind::Div, {b.add(Kind::Scale, {shared}), both});
  return b.add(Kind::Shift, {b.add(Kind::Neg, {ratio})});
}

TensorId spatial_conv(Builder& b, const std::string& name, TensorId x, const SpatialConv& layer) {
  const Scope scope(b, name);
  const std::int64_t in = channels(b, x);
  Shape shape = layer.transposed ? Shape{in, layer.channels} : Shape{layer.channels, in};
  while (shape.rank() < b.shape(x).rank()) shape.push_back(layer.kernel);
  std::vector<TensorId> inputs{x, b.parameter("weight", shape)};
  if (layer.bias) inputs.push_back(b.parameter("bias", {layer.channels}));
  Attributes attributes;
  const std::int64_t padding = (layer.kernel - layer.stride + 1) / 2;
  if (layer.stride > 1) attributes.set(Attr::Stride, {layer.stride});
  if (padding > 0) attributes.set(Attr::Padding, {padding});
  if (layer.transposed) {
    attributes.set(Attr::Transposed, {1});
    const std::int64_t extra = 2 * padding + layer.stride - layer.kernel;
    if (extra > 0) attributes.set(Attr::OutputPadding, {extra});
  }
  return b.add(Kind::Conv, inputs, attributes);
}

TensorId instance_norm(Builder& b, const std::string& name, TensorId x) {
  const Scope scope(b, name);
  const std::int64_t width = channels(b, x);
  return b.add(Kind::GroupNorm, {x, b.parameter("weight", {width}), b.parameter("bias", {width})},
               {{Attr::Groups, {width}}});
}

TensorId central_crop(Builder& b, TensorId x, Pair size) {
  const Pair full = image_size(b, x);
  const auto cut = [&](std::int64_t axis, std::int64_t from, std::int64_t to) {
    const std::int64_t start = (from - to) / 2;
    x = b.add(Kind::Slice, {x},
              {{Attr::Axis, {axis}}, {Attr::Start, {start}}, {Attr::End, {start + to}}});
  };
  cut(2, full.height, size.height);
  cut(3, full.width, size.width);
  return x;
}

}  // namespace foretrain::zoo
