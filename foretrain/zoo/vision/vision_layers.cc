// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/vision/vision_layers.h"

#include <algorithm>

namespace foretrain::zoo {

using graph::Attr;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::Shape;
using graph::TensorId;

TensorId activate(Builder& builder, const std::string& name, Kind kind, TensorId x) {
  if (kind == Kind::Identity) return x;
  if (name.empty()) return builder.add(kind, {x}, {{Attr::Inplace, {1}}});
  const Scope scope(builder, name);
  return builder.add(kind, {x}, {{Attr::Inplace, {1}}});
}

TensorId conv_unit(Builder& builder, const std::string& name, TensorId x, const Conv& layer,
                   Kind activation) {
  const Scope scope(builder, name);
  x = batch_norm(builder, "1", conv(builder, "0", x, layer));
  return activate(builder, "2", activation, x);
}

TensorId conv_norm(Builder& builder, int index, TensorId x, const Conv& layer) {
  const TensorId y = conv(builder, std::to_string(index), x, layer);
  return batch_norm(builder, std::to_string(index + 1), y);
}

TensorId conv_norm_relu(Builder& builder, int index, TensorId x, const Conv& layer) {
  return relu(builder, std::to_string(index + 2), conv_norm(builder, index, x, layer));
}

Conv biased(Conv layer) {
  layer.bias = true;
  return layer;
}

Conv padded_conv(std::int64_t channels, Pair kernel, std::int64_t stride, std::int64_t groups) {
  return {.channels = channels,
          .kernel = kernel,
          .stride = stride,
          .padding = {(kernel.height - 1) / 2, (kernel.width - 1) / 2},
          .groups = groups};
}

std::int64_t multiple_of_8(double channels) {
  const std::int64_t nearest =
      std::max<std::int64_t>(8, static_cast<std::int64_t>(channels + 4) / 8 * 8);
  return static_cast<double>(nearest) < 0.9 * channels ? nearest + 8 : nearest;
}

TensorId squeeze_excite(Builder& builder, const std::string& name, TensorId x,
                        const Squeeze& squeeze) {
  const Scope scope(builder, name);
  const std::int64_t width = channels(builder, x);
  TensorId scale = adaptive_avg_pool(builder, "avgpool", x, 1);
  scale = conv(builder, "fc1", scale, {.channels = squeeze.channels, .bias = true});
  scale = activate(builder, "activation", squeeze.activation, scale);
  scale = conv(builder, "fc2", scale, {.channels = width, .bias = true});
  {
    const Scope gate(builder, "scale_activation");
    scale = builder.add(squeeze.gate, {scale});
  }
  return builder.add(Kind::Mul, {scale, x});
}

TensorId stochastic_depth(Builder& builder, TensorId x) {
  const Scope scope(builder, "stochastic_depth");
  Shape each{builder.batch()};
  while (each.rank() < builder.shape(x).rank()) each.push_back(1);
  return builder.add(Kind::Mul, {x, builder.add(Kind::Dropout, {builder.buffer("noise", each)})});
}

TensorId add_residual(Builder& builder, TensorId y, TensorId x) {
  return builder.add(Kind::Add, {y, x}, {{Attr::Inplace, {1}}});
}

TensorId channels_last(Builder& builder, TensorId x) {
  return builder.add(Kind::Transpose, {x}, {{Attr::Axes, {0, 2, 3, 1}}});
}

TensorId channels_first(Builder& builder, TensorId x) {
  return builder.add(Kind::Transpose, {x}, {{Attr::Axes, {0, 3, 1, 2}}});
}

TensorId gelu(Builder& builder, const std::string& name, TensorId x) {
  const Scope scope(builder, name);
  return builder.add(Kind::Gelu, {x});
}

Pair image_size(const Builder& builder, TensorId x) {
  return {builder.shape(x)[2].factor, builder.shape(x)[3].factor};
}

TensorId resize(Builder& builder, TensorId x, Pair size) {
  return builder.add(Kind::Upsample, {x}, {{Attr::Sizes, {size.height, size.width}}});
}

TensorId enlarging_conv(Builder& builder, const std::string& name, TensorId x,
                        std::int64_t channels, std::int64_t kernel) {
  const Scope scope(builder, name);
  const TensorId weight =
      builder.parameter("weight", {zoo::channels(builder, x), channels, kernel, kernel});
  const TensorId bias = builder.parameter("bias", {channels});
  return builder.add(Kind::Conv, {x, weight, bias},
                     {{Attr::Stride, {kernel}}, {Attr::Transposed, {1}}});
}

TensorId pictures(Builder& builder, Spec& spec, Pair usual, std::int64_t least) {
  const std::int64_t both = spec.take("image", 0, least, kLargestImage);
  const auto side = [&](const char* key, std::int64_t otherwise) {
    return spec.take(key, both > 0 ? both : otherwise, least, kLargestImage);
  };
  const std::int64_t height = side("height", usual.height);
  return builder.input("images", {builder.batch(), 3, height, side("width", usual.width)});
}

}  // namespace foretrain::zoo
