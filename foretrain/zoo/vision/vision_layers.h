// SPDX-License-Identifier: Apache-2.0
// Layers of vision models beyond those of layers.h, and in the same manner: as torchvision's
// modules run in eager mode.
#pragma once

#include <cstdint>
#include <string>

#include "foretrain/graph/builder.h"
#include "foretrain/zoo/detail/layers.h"

namespace foretrain::zoo {

// An activation in place; Kind::Identity is none.
graph::TensorId activate(graph::Builder& builder, const std::string& name, graph::Kind kind,
                         graph::TensorId x);

// torchvision's Conv2dNormActivation: convolution "0", batch norm "1", activation "2".
graph::TensorId conv_unit(graph::Builder& builder, const std::string& name, graph::TensorId x,
                          const Conv& layer, graph::Kind activation = graph::Kind::Relu);

// Modules `index` and `index` + 1 of a sequence: convolution and batch norm; and a third, ReLU.
graph::TensorId conv_norm(graph::Builder& builder, int index, graph::TensorId x, const Conv& layer);
graph::TensorId conv_norm_relu(graph::Builder& builder, int index, graph::TensorId x,
                               const Conv& layer);

// The same layer with bias.
Conv biased(Conv layer);

// Keeps the image's size where the stride is 1.
Conv padded_conv(std::int64_t channels, Pair kernel, std::int64_t stride = 1,
                 std::int64_t groups = 1);

// The multiple of 8 nearest to `channels`, the next one where that would take away more than a
// tenth.
std::int64_t multiple_of_8(double channels);

// Squeeze-and-excitation (Hu, Shen, Sun, CVPR 2018): every channel is scaled by a number between
// 0 and 1 that two 1x1 convolutions "fc1" and "fc2" make of the channels' means.
struct Squeeze {
  std::int64_t channels = 0;  // between the two
  graph::Kind activation = graph::Kind::Relu;
  graph::Kind gate = graph::Kind::Sigmoid;
};
graph::TensorId squeeze_excite(graph::Builder& builder, const std::string& name, graph::TensorId x,
                               const Squeeze& squeeze);

// Stochastic depth (Huang et al., ECCV 2016) by samples: x times a random number per sample.
graph::TensorId stochastic_depth(graph::Builder& builder, graph::TensorId x);

// Adds `x` to the residual `y`, which it overwrites.
graph::TensorId add_residual(graph::Builder& builder, graph::TensorId y, graph::TensorId x);

// [batch, channels, h, w] seen as [batch, h, w, channels], and back: views.
graph::TensorId channels_last(graph::Builder& builder, graph::TensorId x);
graph::TensorId channels_first(graph::Builder& builder, graph::TensorId x);

graph::TensorId gelu(graph::Builder& builder, const std::string& name, graph::TensorId x);

// Bilinear or nearest-neighbour enlargement to `size`.
graph::TensorId resize(graph::Builder& builder, graph::TensorId x, Pair size);
Pair image_size(const graph::Builder& builder, graph::TensorId x);

// Transposed convolution with bias whose windows of `kernel` = stride do not overlap.
graph::TensorId enlarging_conv(graph::Builder& builder, const std::string& name, graph::TensorId x,
                               std::int64_t channels, std::int64_t kernel);

// Input [batch, 3, height, width]. Takes `image` for both sides, or `height` and `width`.
graph::TensorId pictures(graph::Builder& builder, Spec& spec, Pair usual, std::int64_t least);

}  // namespace foretrain::zoo
