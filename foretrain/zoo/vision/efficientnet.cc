// SPDX-License-Identifier: Apache-2.0
// EfficientNet (Tan, Le, ICML 2019) and EfficientNetV2 (ICML 2021), as in torchvision. NVIDIA's
// "widese" squeezes to a quarter of the expanded channels in place of the block's input.
#include "foretrain/zoo/vision/efficientnet.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/vision/vision_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

struct Stage {
  bool fused;  // one full convolution in place of a 1x1 and a depthwise one
  int expansion;
  int kernel;
  int stride;  // of the first block
  int channels;
  int blocks;
};

constexpr Stage kB[] = {
    {false, 1, 3, 1, 16, 1},  {false, 6, 3, 2, 24, 2},  {false, 6, 5, 2, 40, 2},
    {false, 6, 3, 2, 80, 3},  {false, 6, 5, 1, 112, 3}, {false, 6, 5, 2, 192, 4},
    {false, 6, 3, 1, 320, 1},
};
constexpr Stage kV2S[] = {
    {true, 1, 3, 1, 24, 2},   {true, 4, 3, 2, 48, 4},   {true, 4, 3, 2, 64, 4},
    {false, 4, 3, 2, 128, 6}, {false, 6, 3, 1, 160, 9}, {false, 6, 3, 2, 256, 15},
};
constexpr Stage kV2M[] = {
    {true, 1, 3, 1, 24, 3},   {true, 4, 3, 2, 48, 5},    {true, 4, 3, 2, 80, 5},
    {false, 4, 3, 2, 160, 7}, {false, 6, 3, 1, 176, 14}, {false, 6, 3, 2, 304, 18},
    {false, 6, 3, 1, 512, 5},
};
constexpr Stage kV2L[] = {
    {true, 1, 3, 1, 32, 4},    {true, 4, 3, 2, 64, 7},    {true, 4, 3, 2, 96, 7},
    {false, 4, 3, 2, 192, 10}, {false, 6, 3, 1, 224, 19}, {false, 6, 3, 2, 384, 25},
    {false, 6, 3, 1, 640, 7},
};

struct Row {
  const char* name;
  const char* about;
  std::span<const Stage> stages;
  int stem;      // channels, before `width`
  int last;      // channels of the last convolution; 0: four times its input's
  double width;  // times the channels
  double depth;  // times the blocks
  int image;     // of the published weights
  bool wide_squeeze = false;
};

constexpr std::array kRows{
    Row{"efficientnet_b0", "EfficientNet-B0", kB, 32, 0, 1.0, 1.0, 224},
    Row{"efficientnet_b1", "EfficientNet-B1", kB, 32, 0, 1.0, 1.1, 240},
    Row{"efficientnet_b2", "EfficientNet-B2", kB, 32, 0, 1.1, 1.2, 288},
    Row{"efficientnet_b3", "EfficientNet-B3", kB, 32, 0, 1.2, 1.4, 300},
    Row{"efficientnet_b4", "EfficientNet-B4", kB, 32, 0, 1.4, 1.8, 380},
    Row{"efficientnet_b5", "EfficientNet-B5", kB, 32, 0, 1.6, 2.2, 456},
    Row{"efficientnet_b6", "EfficientNet-B6", kB, 32, 0, 1.8, 2.6, 528},
    Row{"efficientnet_b7", "EfficientNet-B7", kB, 32, 0, 2.0, 3.1, 600},
    Row{"efficientnet_v2_s", "EfficientNetV2, small", kV2S, 24, 1280, 1.0, 1.0, 384},
    Row{"efficientnet_v2_m", "EfficientNetV2, medium", kV2M, 24, 1280, 1.0, 1.0, 480},
    Row{"efficientnet_v2_l", "EfficientNetV2, large", kV2L, 32, 1280, 1.0, 1.0, 480},
    Row{"efficientnet_widese_b0", "EfficientNet-B0, wider squeeze, as NVIDIA trains it", kB, 32, 0,
        1.0, 1.0, 224, true},
    Row{"efficientnet_widese_b4", "EfficientNet-B4, wider squeeze, as NVIDIA trains it", kB, 32, 0,
        1.4, 1.8, 380, true},
};

TensorId inverted(Builder& b, TensorId x, const Stage& stage, std::int64_t out, std::int64_t stride,
                  bool wide_squeeze) {
  const Scope scope(b, "block");
  const std::int64_t in = channels(b, x);
  const std::int64_t expanded = multiple_of_8(static_cast<double>(in * stage.expansion));
  int index = 0;
  const auto next = [&index] { return std::to_string(index++); };
  if (expanded != in) x = conv_unit(b, next(), x, padded_conv(expanded, 1), Kind::Silu);
  x = conv_unit(b, next(), x, padded_conv(expanded, stage.kernel, stride, expanded), Kind::Silu);
  const std::int64_t squeezed = std::max<std::int64_t>(1, (wide_squeeze ? expanded : in) / 4);
  x = squeeze_excite(b, next(), x, {.channels = squeezed, .activation = Kind::Silu});
  return conv_unit(b, next(), x, padded_conv(out, 1), Kind::Identity);
}

TensorId fused_inverted(Builder& b, TensorId x, const Stage& stage, std::int64_t out,
                        std::int64_t stride) {
  const Scope scope(b, "block");
  const std::int64_t expanded =
      multiple_of_8(static_cast<double>(channels(b, x) * stage.expansion));
  if (stage.expansion == 1) {
    return conv_unit(b, "0", x, padded_conv(out, stage.kernel, stride), Kind::Silu);
  }
  x = conv_unit(b, "0", x, padded_conv(expanded, stage.kernel, stride), Kind::Silu);
  return conv_unit(b, "1", x, padded_conv(out, 1), Kind::Identity);
}

const Row& row_named(const std::string& name) {
  return *std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) { return name == r.name; });
}

TensorId block(Builder& b, TensorId x, const Stage& stage, std::int64_t out, std::int64_t stride,
               bool wide_squeeze) {
  return stage.fused ? fused_inverted(b, x, stage, out, stride)
                     : inverted(b, x, stage, out, stride, wide_squeeze);
}

graph::Graph build_efficientnet(Spec& spec) {
  const Row& row = row_named(spec.name());
  Builder b(spec.name());
  TensorId x = images(b, spec, row.image, 32);
  {
    const Scope scope(b, "features");
    x = efficientnet_stages(b, x, spec.name()).back();
    const std::int64_t last = row.last > 0 ? row.last : 4 * channels(b, x);
    const std::string index = std::to_string(row.stages.size() + 1);
    x = conv_unit(b, index, x, padded_conv(last, 1), Kind::Silu);
  }
  x = flatten(b, adaptive_avg_pool(b, "avgpool", x, 1));
  {
    const Scope scope(b, "classifier");
    x = linear(b, "1", dropout(b, "0", x), classes(spec, 1000));
  }
  return finish_classifier(b, x);
}

}  // namespace

std::vector<TensorId> efficientnet_stages(Builder& b, TensorId x, const std::string& name) {
  const Row& row = row_named(name);
  x = conv_unit(b, "0", x, padded_conv(multiple_of_8(row.stem * row.width), 3, 2), Kind::Silu);
  std::vector<TensorId> stages;
  bool first = true;  // of all blocks: its depth is not stochastic
  for (const Stage& stage : row.stages) {
    const Scope outer(b, std::to_string(stages.size() + 1));
    const std::int64_t out = multiple_of_8(stage.channels * row.width);
    const int blocks = static_cast<int>(std::ceil(stage.blocks * row.depth));
    for (int i = 0; i < blocks; ++i) {
      const Scope inner(b, std::to_string(i));
      const std::int64_t stride = i == 0 ? stage.stride : 1;
      TensorId y = block(b, x, stage, out, stride, row.wide_squeeze);
      if (stride == 1 && channels(b, x) == out) {
        y = add_residual(b, first ? y : stochastic_depth(b, y), x);
      }
      x = y;
      first = false;
    }
    stages.push_back(x);
  }
  return stages;
}

std::vector<Entry> efficientnet_entries() {
  std::vector<Entry> entries;
  entries.reserve(kRows.size());
  for (const Row& row : kRows) {
    entries.push_back({{row.name, "EfficientNet", row.about,
                        "image=" + std::to_string(row.image) + ", classes=1000"},
                       build_efficientnet});
  }
  return entries;
}

}  // namespace foretrain::zoo
