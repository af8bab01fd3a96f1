// SPDX-License-Identifier: Apache-2.0
// Layers that convolutional models are made of. Each opens a scope `name` as the framework's
// module would, so parameters are called as in torchvision: "layer1.0.conv1.weight".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "foretrain/graph/builder.h"
#include "foretrain/zoo/detail/spec.h"

namespace foretrain::zoo {

// Height and width; one number stands for both.
struct Pair {
  std::int64_t height;
  std::int64_t width;

  constexpr Pair(std::int64_t both) : height(both), width(both) {}  // NOLINT: 3 is a 3x3 kernel
  constexpr Pair(std::int64_t h, std::int64_t w) : height(h), width(w) {}
};

struct Conv {
  std::int64_t channels = 0;  // of the output
  Pair kernel = 1;
  std::int64_t stride = 1;
  Pair padding = 0;
  std::int64_t groups = 1;
  bool bias = false;
  std::int64_t dilation = 1;
};

struct Pool {
  std::int64_t kernel = 2;
  std::int64_t stride = 2;
  std::int64_t padding = 0;
  bool ceil_mode = false;
};

// Size of axis 1.
std::int64_t channels(const graph::Builder& builder, graph::TensorId x);

graph::TensorId conv(graph::Builder& builder, const std::string& name, graph::TensorId x,
                     const Conv& layer);
// With running statistics.
graph::TensorId batch_norm(graph::Builder& builder, const std::string& name, graph::TensorId x);
// With bias.
graph::TensorId linear(graph::Builder& builder, const std::string& name, graph::TensorId x,
                       std::int64_t features);

// Those without parameters. An empty name is a call that is no module: the node belongs to the
// scope that is open. The activations overwrite their input.
graph::TensorId relu(graph::Builder& builder, const std::string& name, graph::TensorId x);
graph::TensorId relu6(graph::Builder& builder, const std::string& name, graph::TensorId x);
graph::TensorId dropout(graph::Builder& builder, const std::string& name, graph::TensorId x);
graph::TensorId max_pool(graph::Builder& builder, const std::string& name, graph::TensorId x,
                         const Pool& pool);
graph::TensorId avg_pool(graph::Builder& builder, const std::string& name, graph::TensorId x,
                         const Pool& pool);
// To `size` x `size`.
graph::TensorId adaptive_avg_pool(graph::Builder& builder, const std::string& name,
                                  graph::TensorId x, std::int64_t size);
// Mean over height and width: [batch, channels].
graph::TensorId spatial_mean(graph::Builder& builder, graph::TensorId x);
graph::TensorId flatten(graph::Builder& builder, graph::TensorId x);
// Along the channels.
graph::TensorId concat(graph::Builder& builder, const std::vector<graph::TensorId>& parts);

inline constexpr std::int64_t kLargestImage = 16384;

// Input [batch, 3, image, image]. Takes the parameter `image`; a smaller one than `least` is an
// error, since it would not reach the last layer.
graph::TensorId images(graph::Builder& builder, Spec& spec, std::int64_t usual, std::int64_t least);
// Takes the parameter `classes`.
std::int64_t classes(Spec& spec, std::int64_t usual);
// Input [batch] of class numbers.
graph::TensorId targets(graph::Builder& builder);
graph::TensorId cross_entropy(graph::Builder& builder, const std::string& name,
                              graph::TensorId logits, graph::TensorId class_numbers);
// Ends a classifier: its logits are the output, their cross entropy the loss.
graph::Graph finish_classifier(graph::Builder& builder, graph::TensorId logits);

}  // namespace foretrain::zoo
