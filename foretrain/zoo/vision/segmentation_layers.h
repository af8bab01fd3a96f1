// SPDX-License-Identifier: Apache-2.0
// What segmenters share: heads' pieces and losses over pixels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "foretrain/graph/builder.h"
#include "foretrain/zoo/detail/layers.h"

namespace foretrain::zoo {

// Resizes the logits to the image's size; their cross entropy over pixels.
struct PixelLoss {
  graph::TensorId logits{};
  graph::TensorId loss{};
};
PixelLoss pixel_loss(graph::Builder& builder, const std::string& name, graph::TensorId logits,
                     Pair image, graph::TensorId targets);
// Input [batch, height, width] of class numbers.
graph::TensorId pixel_targets(graph::Builder& builder, Pair image);

// main + aux times a weight.
void weigh_losses(graph::Builder& builder, graph::TensorId main, graph::TensorId aux);

// One minus twice the overlap over the sum of prediction and truth (Milletari et al., 3DV 2016),
// of probabilities along axis 1. The truth, as large, is made on the device of class numbers.
graph::TensorId dice_loss(graph::Builder& builder, const std::string& name,
                          graph::TensorId probabilities);

// Convolution over images or volumes, by the input's rank, that keeps their size or divides it by
// the stride; transposed: multiplies it by the stride.
struct SpatialConv {
  std::int64_t channels = 0;
  std::int64_t kernel = 3;
  std::int64_t stride = 1;
  bool bias = false;
  bool transposed = false;
};
graph::TensorId spatial_conv(graph::Builder& builder, const std::string& name, graph::TensorId x,
                             const SpatialConv& layer);
// Statistics of each sample and channel.
graph::TensorId instance_norm(graph::Builder& builder, const std::string& name, graph::TensorId x);

// The middle of `x`, of that size: views.
graph::TensorId central_crop(graph::Builder& builder, graph::TensorId x, Pair size);

}  // namespace foretrain::zoo
