// SPDX-License-Identifier: Apache-2.0
// MnasNet-B1 (Tan et al., CVPR 2019) of several widths, as in torchvision.
#include <array>

#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/vision/vision_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

struct Row {
  const char* name;
  const char* about;
  int percent;  // of the channels of mnasnet1_0
};

constexpr std::array kRows{
    Row{"mnasnet0_5", "MnasNet-B1, half as wide", 50},
    Row{"mnasnet0_75", "MnasNet-B1, three quarters as wide", 75},
    Row{"mnasnet1_0", "MnasNet-B1", 100},
    Row{"mnasnet1_3", "MnasNet-B1, 1.3 times as wide", 130},
};

struct Stage {
  int kernel;
  int stride;  // of the first block
  int expansion;
  int blocks;
  int channels;
};

constexpr std::array kStages{
    Stage{3, 2, 3, 3, 24}, Stage{5, 2, 3, 3, 40},  Stage{5, 2, 6, 3, 80},
    Stage{3, 1, 6, 2, 96}, Stage{5, 2, 6, 4, 192}, Stage{3, 1, 6, 1, 320},
};

std::int64_t scaled(int channels, int percent) { return multiple_of_8(channels * percent / 100.0); }

Conv depthwise(std::int64_t channels, std::int64_t kernel, std::int64_t stride) {
  return padded_conv(channels, kernel, stride, channels);
}

TensorId inverted_residual(Builder& b, TensorId x, const Stage& stage, std::int64_t out,
                           std::int64_t stride) {
  const std::int64_t in = channels(b, x);
  const std::int64_t hidden = in * stage.expansion;
  TensorId y = x;
  {
    const Scope scope(b, "layers");
    y = conv_norm_relu(b, 0, y, {.channels = hidden});
    y = conv_norm_relu(b, 3, y, depthwise(hidden, stage.kernel, stride));
    y = conv_norm(b, 6, y, {.channels = out});
  }
  return stride == 1 && in == out ? b.add(Kind::Add, {y, x}) : y;
}

TensorId layers(Builder& b, TensorId x, int percent) {
  const Scope scope(b, "layers");
  const std::int64_t first = scaled(32, percent);
  x = conv_norm_relu(b, 0, x, {.channels = first, .kernel = 3, .stride = 2, .padding = 1});
  x = conv_norm_relu(b, 3, x, depthwise(first, 3, 1));
  x = conv_norm(b, 6, x, {.channels = scaled(16, percent)});
  int index = 8;
  for (const Stage& stage : kStages) {
    const Scope stack(b, std::to_string(index++));
    for (int i = 0; i < stage.blocks; ++i) {
      const Scope inner(b, std::to_string(i));
      const std::int64_t out = scaled(stage.channels, percent);
      x = inverted_residual(b, x, stage, out, i == 0 ? stage.stride : 1);
    }
  }
  return conv_norm_relu(b, index, x, {.channels = 1280});
}

graph::Graph build_mnasnet(Spec& spec) {
  const Row& row = row_of(kRows, spec);
  Builder b(spec.name());
  TensorId x = spatial_mean(b, layers(b, images(b, spec, 224, 32), row.percent));
  {
    const Scope scope(b, "classifier");
    x = linear(b, "1", dropout(b, "0", x), classes(spec, 1000));
  }
  return finish_classifier(b, x);
}

}  // namespace

std::vector<Entry> mnasnet_entries() {
  return entries_of(kRows, "MnasNet", "image=224, classes=1000", build_mnasnet);
}

}  // namespace foretrain::zoo
