// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/detail/layers.h"

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

void set_unless(Attributes& attributes, Attr key, std::int64_t value, std::int64_t usual) {
  if (value != usual) attributes.set(key, {value});
}

TensorId in_scope(Builder& builder, const std::string& name, Kind kind, TensorId x,
                  const Attributes& attributes = {}) {
  if (name.empty()) return builder.add(kind, {x}, attributes);
  const Scope scope(builder, name);
  return builder.add(kind, {x}, attributes);
}

Attributes pool_attributes(const Pool& pool) {
  Attributes attributes{{Attr::Kernel, {pool.kernel}}};
  set_unless(attributes, Attr::Stride, pool.stride, 1);
  set_unless(attributes, Attr::Padding, pool.padding, 0);
  if (pool.ceil_mode) attributes.set(Attr::CeilMode, {1});
  return attributes;
}

}  // namespace

std::int64_t channels(const Builder& builder, TensorId x) { return builder.shape(x)[1].factor; }

TensorId conv(Builder& builder, const std::string& name, TensorId x, const Conv& layer) {
  const Scope scope(builder, name);
  const std::int64_t in = channels(builder, x) / layer.groups;
  std::vector<TensorId> inputs{x};
  inputs.push_back(
      builder.parameter("weight", {layer.channels, in, layer.kernel.height, layer.kernel.width}));
  if (layer.bias) inputs.push_back(builder.parameter("bias", {layer.channels}));
  Attributes attributes;
  set_unless(attributes, Attr::Stride, layer.stride, 1);
  if (layer.padding.height != layer.padding.width) {
    attributes.set(Attr::Padding, {layer.padding.height, layer.padding.width});
  } else {
    set_unless(attributes, Attr::Padding, layer.padding.height, 0);
  }
  set_unless(attributes, Attr::Dilation, layer.dilation, 1);
  set_unless(attributes, Attr::Groups, layer.groups, 1);
  return builder.add(Kind::Conv, inputs, attributes);
}

TensorId batch_norm(Builder& builder, const std::string& name, TensorId x) {
  const Scope scope(builder, name);
  const Shape each{channels(builder, x)};
  const TensorId weight = builder.parameter("weight", each);
  const TensorId bias = builder.parameter("bias", each);
  const TensorId mean = builder.buffer("running_mean", each);
  const TensorId variance = builder.buffer("running_var", each);
  return builder.add(Kind::BatchNorm, {x, weight, bias, mean, variance});
}

TensorId linear(Builder& builder, const std::string& name, TensorId x, std::int64_t features) {
  const Scope scope(builder, name);
  const Shape& shape = builder.shape(x);
  const Dim in = shape[shape.rank() - 1];
  const TensorId weight = builder.parameter("weight", {features, in});
  const TensorId bias = builder.parameter("bias", {features});
  return builder.add(Kind::Linear, {x, weight, bias});
}

TensorId relu(Builder& builder, const std::string& name, TensorId x) {
  return in_scope(builder, name, Kind::Relu, x, {{Attr::Inplace, {1}}});
}

TensorId relu6(Builder& builder, const std::string& name, TensorId x) {
  return in_scope(builder, name, Kind::Relu6, x, {{Attr::Inplace, {1}}});
}

TensorId dropout(Builder& builder, const std::string& name, TensorId x) {
  return in_scope(builder, name, Kind::Dropout, x);
}

TensorId max_pool(Builder& builder, const std::string& name, TensorId x, const Pool& pool) {
  return in_scope(builder, name, Kind::MaxPool, x, pool_attributes(pool));
}

TensorId avg_pool(Builder& builder, const std::string& name, TensorId x, const Pool& pool) {
  return in_scope(builder, name, Kind::AvgPool, x, pool_attributes(pool));
}

TensorId adaptive_avg_pool(Builder& builder, const std::string& name, TensorId x,
                           std::int64_t size) {
  return in_scope(builder, name, Kind::AdaptiveAvgPool, x, {{Attr::Sizes, {size}}});
}

TensorId spatial_mean(Builder& builder, TensorId x) {
  return builder.add(Kind::Mean, {x}, {{Attr::Axes, {2, 3}}});
}

TensorId flatten(Builder& builder, TensorId x) {
  return builder.add(Kind::Reshape, {x}, {{Attr::Shape, {0, -1}}});
}

TensorId concat(Builder& builder, const std::vector<TensorId>& parts) {
  return builder.add(Kind::Concat, parts, {{Attr::Axis, {1}}});
}

TensorId images(Builder& builder, Spec& spec, std::int64_t usual, std::int64_t least) {
  const std::int64_t image = spec.take("image", usual, least, kLargestImage);
  return builder.input("images", {builder.batch(), 3, image, image});
}

std::int64_t classes(Spec& spec, std::int64_t usual) { return spec.take("classes", usual); }

TensorId targets(Builder& builder) {
  return builder.input("targets", {builder.batch()}, DType::I64);
}

TensorId cross_entropy(Builder& builder, const std::string& name, TensorId logits,
                       TensorId class_numbers) {
  const Scope scope(builder, name);
  return builder.add(Kind::CrossEntropy, {logits, class_numbers});
}

graph::Graph finish_classifier(Builder& builder, TensorId logits) {
  builder.output(logits);
  builder.loss(cross_entropy(builder, "loss", logits, targets(builder)));
  return builder.finish();
}

}  // namespace foretrain::zoo
