// SPDX-License-Identifier: Apache-2.0
// Densely connected networks (Huang, Liu, van der Maaten, Weinberger, CVPR 2017): torchvision's
// for ImageNet, and the paper's plain one for CIFAR (40 layers, growth 12, no bottleneck, no
// compression). Every layer joins all outputs before it by a copy, as torchvision does, the
// first one too.
#include <array>
#include <span>

#include "foretrain/zoo/detail/layers.h"
#include "foretrain/zoo/detail/registry.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Scope;
using graph::TensorId;

struct Row {
  const char* name;
  const char* about;
  std::array<int, 4> layers;  // per block
  int growth;
  int first;  // channels of the stem
};

constexpr std::array kRows{
    Row{"densenet121", "densely connected, 121 layers, growth 32", {6, 12, 24, 16}, 32, 64},
    Row{"densenet161", "densely connected, 161 layers, growth 48", {6, 12, 36, 24}, 48, 96},
    Row{"densenet169", "densely connected, 169 layers, growth 32", {6, 12, 32, 32}, 32, 64},
    Row{"densenet201", "densely connected, 201 layers, growth 32", {6, 12, 48, 32}, 32, 64},
};

constexpr std::array kCifarLayers{12, 12, 12};
constexpr int kCifarGrowth = 12;
constexpr int kCifarFirst = 16;

struct Style {
  int growth;
  bool bottleneck;  // a 1x1 convolution to four times the growth precedes the 3x3
  int compression;  // a transition divides the channels by this
};

TensorId norm_relu(Builder& b, const std::string& ending, TensorId x) {
  return relu(b, "relu" + ending, batch_norm(b, "norm" + ending, x));
}

TensorId dense_layer(Builder& b, const std::vector<TensorId>& before, const Style& style) {
  TensorId x = norm_relu(b, "1", concat(b, before));
  const Conv wide{.channels = style.growth, .kernel = 3, .padding = 1};
  if (!style.bottleneck) return conv(b, "conv1", x, wide);
  x = conv(b, "conv1", x, {.channels = std::int64_t{4} * style.growth});
  return conv(b, "conv2", norm_relu(b, "2", x), wide);
}

TensorId dense_block(Builder& b, TensorId x, int layers, const Style& style) {
  std::vector<TensorId> outputs{x};
  for (int i = 1; i <= layers; ++i) {
    const Scope scope(b, "denselayer" + std::to_string(i));
    outputs.push_back(dense_layer(b, outputs, style));
  }
  return concat(b, outputs);
}

TensorId transition(Builder& b, TensorId x, const Style& style) {
  const std::int64_t out = channels(b, x) / style.compression;
  x = conv(b, "conv", norm_relu(b, "", x), {.channels = out});
  return avg_pool(b, "pool", x, {});
}

TensorId dense_blocks(Builder& b, TensorId x, std::span<const int> layers, const Style& style) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    {
      const Scope scope(b, "denseblock" + number);
      x = dense_block(b, x, layers[i], style);
    }
    if (i + 1 == layers.size()) break;
    const Scope scope(b, "transition" + number);
    x = transition(b, x, style);
  }
  return batch_norm(b, "norm" + std::to_string(layers.size() + 1), x);
}

graph::Graph with_head(Builder& b, TensorId x, std::int64_t classes) {
  x = flatten(b, adaptive_avg_pool(b, "", relu(b, "", x), 1));
  return finish_classifier(b, linear(b, "classifier", x, classes));
}

graph::Graph build_densenet(Spec& spec) {
  const Row& row = row_of(kRows, spec);
  Builder b(spec.name());
  TensorId x = images(b, spec, 224, 32);
  {
    const Scope scope(b, "features");
    x = conv(b, "conv0", x, {.channels = row.first, .kernel = 7, .stride = 2, .padding = 3});
    x = max_pool(b, "pool0", norm_relu(b, "0", x), {.kernel = 3, .stride = 2, .padding = 1});
    x = dense_blocks(b, x, row.layers, {row.growth, true, 2});
  }
  return with_head(b, x, classes(spec, 1000));
}

graph::Graph build_cifar(Spec& spec) {
  Builder b(spec.name());
  TensorId x = images(b, spec, 32, 4);
  {
    const Scope scope(b, "features");
    x = conv(b, "conv0", x, {.channels = kCifarFirst, .kernel = 3, .padding = 1});
    x = dense_blocks(b, x, kCifarLayers, {kCifarGrowth, false, 1});
  }
  return with_head(b, x, classes(spec, 10));
}

}  // namespace

std::vector<Entry> densenet_entries() {
  std::vector<Entry> entries =
      entries_of(kRows, "DenseNet", "image=224, classes=1000", build_densenet);
  entries.push_back(
      {{"densenet40-k12", "DenseNet",
        "densely connected for CIFAR, 40 layers, growth 12, no bottleneck", "image=32, classes=10"},
       build_cifar});
  return entries;
}

}  // namespace foretrain::zoo
