// SPDX-License-Identifier: Apache-2.0
// ShuffleNet v2 (Ma, Zhang, Zheng, Sun, ECCV 2018), as in torchvision.
#include <array>

#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/vision/vision_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

struct Row {
  const char* name;
  const char* about;
  std::array<int, 3> channels;  // per stage
  int last;
};

constexpr std::array kRows{
    Row{"shufflenet_v2_x0_5", "ShuffleNet v2, half as wide", {48, 96, 192}, 1024},
    Row{"shufflenet_v2_x1_0", "ShuffleNet v2", {116, 232, 464}, 1024},
    Row{"shufflenet_v2_x1_5", "ShuffleNet v2, 1.5 times as wide", {176, 352, 704}, 1024},
    Row{"shufflenet_v2_x2_0", "ShuffleNet v2, twice as wide", {244, 488, 976}, 2048},
};

constexpr std::array kBlocks{4, 8, 4};  // per stage

TensorId depthwise(Builder& b, int index, TensorId x, std::int64_t stride) {
  const std::int64_t width = channels(b, x);
  return conv_norm(b, index, x, padded_conv(width, 3, stride, width));
}

// The two halves of the channels are dealt out by turns.
TensorId shuffle(Builder& b, TensorId x) {
  const graph::Shape shape = b.shape(x);
  const graph::Dim half = shape[1].factor / 2;
  x = b.add(Kind::Reshape, {x}, {{Attr::Shape, {0, 2, half, shape[2], shape[3]}}});
  x = b.add(Kind::Transpose, {x}, {{Attr::Axes, {0, 2, 1, 3, 4}}});
  x = b.add(Kind::Contiguous, {x});
  return b.add(Kind::Reshape, {x}, {{Attr::Shape, {0, shape[1], shape[2], shape[3]}}});
}

TensorId left_branch(Builder& b, TensorId x, std::int64_t half) {
  const Scope scope(b, "branch1");
  return conv_norm_relu(b, 2, depthwise(b, 0, x, 2), {.channels = half});
}

TensorId right_branch(Builder& b, TensorId x, std::int64_t half, std::int64_t stride) {
  const Scope scope(b, "branch2");
  x = depthwise(b, 3, conv_norm_relu(b, 0, x, {.channels = half}), stride);
  return conv_norm_relu(b, 5, x, {.channels = half});
}

// One half of the channels passes as it is.
TensorId plain_block(Builder& b, TensorId x) {
  const std::int64_t half = channels(b, x) / 2;
  const std::vector<TensorId> halves =
      b.add_all(Kind::Split, {x}, {{Attr::Axis, {1}}, {Attr::Sizes, {half, half}}});
  return shuffle(b, concat(b, {halves[0], right_branch(b, halves[1], half, 1)}));
}

TensorId halving_block(Builder& b, TensorId x, std::int64_t out) {
  const TensorId left = left_branch(b, x, out / 2);
  return shuffle(b, concat(b, {left, right_branch(b, x, out / 2, 2)}));
}

graph::Graph build_shufflenet(Spec& spec) {
  const Row& row = row_of(kRows, spec);
  Builder b(spec.name());
  TensorId x = images(b, spec, 224, 32);
  {
    const Scope scope(b, "conv1");
    x = conv_norm_relu(b, 0, x, {.channels = 24, .kernel = 3, .stride = 2, .padding = 1});
  }
  x = max_pool(b, "maxpool", x, {.kernel = 3, .stride = 2, .padding = 1});
  for (std::size_t stage = 0; stage < kBlocks.size(); ++stage) {
    const Scope scope(b, "stage" + std::to_string(stage + 2));
    for (int i = 0; i < kBlocks[stage]; ++i) {
      const Scope inner(b, std::to_string(i));
      x = i == 0 ? halving_block(b, x, row.channels[stage]) : plain_block(b, x);
    }
  }
  {
    const Scope scope(b, "conv5");
    x = conv_norm_relu(b, 0, x, {.channels = row.last});
  }
  return finish_classifier(b, linear(b, "fc", spatial_mean(b, x), classes(spec, 1000)));
}

}  // namespace

std::vector<Entry> shufflenet_entries() {
  return entries_of(kRows, "ShuffleNet", "image=224, classes=1000", build_shufflenet);
}

}  // namespace foretrain::zoo
