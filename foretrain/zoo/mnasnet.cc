// SPDX-License-Identifier: Apache-2.0
// MnasNet-B1 (Tan et al., CVPR 2019) of several widths, as in torchvision.
#include <algorithm>
#include <array>

#include "foretrain/zoo/layers.h"
#include "foretrain/zoo/registry.h"

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

// The nearest multiple of 8, the next one where that would take away more than a tenth.
std::int64_t scaled(int channels, int percent) {
  const int wanted = channels * percent;  // in hundredths
  const int nearest = std::max(8, (wanted + 400) / 800 * 8);
  return 1000 * nearest >= 9 * wanted ? nearest : nearest + 8;
}

TensorId conv_norm(Builder& b, int index, TensorId x, const Conv& layer) {
  return batch_norm(b, std::to_string(index + 1), conv(b, std::to_string(index), x, layer));
}

// Modules `index` to `index` + 2.
TensorId unit(Builder& b, int index, TensorId x, const Conv& layer) {
  return relu(b, std::to_string(index + 2), conv_norm(b, index, x, layer));
}

Conv depthwise(std::int64_t channels, std::int64_t kernel, std::int64_t stride) {
  return {.channels = channels,
          .kernel = kernel,
          .stride = stride,
          .padding = kernel / 2,
          .groups = channels};
}

TensorId inverted_residual(Builder& b, TensorId x, const Stage& stage, std::int64_t out,
                           std::int64_t stride) {
  const std::int64_t in = channels(b, x);
  const std::int64_t hidden = in * stage.expansion;
  TensorId y = x;
  {
    const Scope scope(b, "layers");
    y = unit(b, 0, y, {.channels = hidden});
    y = unit(b, 3, y, depthwise(hidden, stage.kernel, stride));
    y = conv_norm(b, 6, y, {.channels = out});
  }
  return stride == 1 && in == out ? b.add(Kind::Add, {y, x}) : y;
}

TensorId layers(Builder& b, TensorId x, int percent) {
  const Scope scope(b, "layers");
  const std::int64_t first = scaled(32, percent);
  x = unit(b, 0, x, {.channels = first, .kernel = 3, .stride = 2, .padding = 1});
  x = unit(b, 3, x, depthwise(first, 3, 1));
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
  return unit(b, index, x, {.channels = 1280});
}

graph::Graph build_mnasnet(Spec& spec) {
  const Row& row = *std::find_if(kRows.begin(), kRows.end(),
                                 [&](const Row& r) { return spec.name() == r.name; });
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
  std::vector<Entry> entries;
  entries.reserve(kRows.size());
  for (const Row& row : kRows) {
    entries.push_back({{row.name, "MnasNet", row.about, "image=224, classes=1000"}, build_mnasnet});
  }
  return entries;
}

}  // namespace foretrain::zoo
