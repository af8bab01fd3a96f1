// SPDX-License-Identifier: Apache-2.0
// RegNet (Radosavovic et al., CVPR 2020), as in torchvision. Depths and widths are what its rule
// (blocks' widths grow linearly, then are rounded to stages) gives for the published parameters.
#include <algorithm>
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
  bool squeeze;  // RegNetY
  std::array<int, 4> blocks;
  std::array<int, 4> widths;
  int group_width;
};

constexpr std::array kRows{
    Row{"regnet_y_400mf", true, {1, 3, 6, 6}, {48, 104, 208, 440}, 8},
    Row{"regnet_y_800mf", true, {1, 3, 8, 2}, {64, 144, 320, 784}, 16},
    Row{"regnet_y_1_6gf", true, {2, 6, 17, 2}, {48, 120, 336, 888}, 24},
    Row{"regnet_y_3_2gf", true, {2, 5, 13, 1}, {72, 216, 576, 1512}, 24},
    Row{"regnet_y_8gf", true, {2, 4, 10, 1}, {224, 448, 896, 2016}, 56},
    Row{"regnet_y_16gf", true, {2, 4, 11, 1}, {224, 448, 1232, 3024}, 112},
    Row{"regnet_y_32gf", true, {2, 5, 12, 1}, {232, 696, 1392, 3712}, 232},
    Row{"regnet_y_128gf", true, {2, 7, 17, 1}, {528, 1056, 2904, 7392}, 264},
    Row{"regnet_x_400mf", false, {1, 2, 7, 12}, {32, 64, 160, 400}, 16},
    Row{"regnet_x_800mf", false, {1, 3, 7, 5}, {64, 128, 288, 672}, 16},
    Row{"regnet_x_1_6gf", false, {2, 4, 10, 2}, {72, 168, 408, 912}, 24},
    Row{"regnet_x_3_2gf", false, {2, 6, 15, 2}, {96, 192, 432, 1008}, 48},
    Row{"regnet_x_8gf", false, {2, 5, 15, 1}, {80, 240, 720, 1920}, 120},
    Row{"regnet_x_16gf", false, {2, 6, 13, 1}, {256, 512, 896, 2048}, 128},
    Row{"regnet_x_32gf", false, {2, 7, 13, 1}, {336, 672, 1344, 2520}, 168},
};

TensorId transform(Builder& b, TensorId x, std::int64_t out, std::int64_t stride, const Row& row) {
  const Scope scope(b, "f");
  const std::int64_t in = channels(b, x);
  const std::int64_t groups = out / std::min<std::int64_t>(row.group_width, out);
  x = conv_unit(b, "a", x, padded_conv(out, 1));
  x = conv_unit(b, "b", x, padded_conv(out, 3, stride, groups));
  if (row.squeeze) x = squeeze_excite(b, "se", x, {.channels = in / 4});
  return conv_unit(b, "c", x, padded_conv(out, 1), Kind::Identity);
}

TensorId block(Builder& b, TensorId x, std::int64_t out, std::int64_t stride, const Row& row) {
  TensorId shortcut = x;
  if (stride != 1 || channels(b, x) != out) {
    shortcut = conv_unit(b, "proj", x, padded_conv(out, 1, stride), Kind::Identity);
  }
  return relu(b, "activation", b.add(Kind::Add, {shortcut, transform(b, x, out, stride, row)}));
}

graph::Graph build_regnet(Spec& spec) {
  const Row& row = row_of(kRows, spec);
  Builder b(spec.name());
  TensorId x = conv_unit(b, "stem", images(b, spec, 224, 32), padded_conv(32, 3, 2));
  for (std::size_t stage = 0; stage < row.blocks.size(); ++stage) {
    const std::string name = "block" + std::to_string(stage + 1);
    const Scope scope(b, "trunk_output." + name);
    for (int i = 0; i < row.blocks[stage]; ++i) {
      const Scope inner(b, name + "-" + std::to_string(i));
      x = block(b, x, row.widths[stage], i == 0 ? 2 : 1, row);
    }
  }
  x = flatten(b, adaptive_avg_pool(b, "avgpool", x, 1));
  return finish_classifier(b, linear(b, "fc", x, classes(spec, 1000)));
}

}  // namespace

std::vector<Entry> regnet_entries() {
  std::vector<Entry> entries;
  entries.reserve(kRows.size());
  for (const Row& row : kRows) {
    entries.push_back({{row.name, "RegNet",
                        row.squeeze ? "RegNetY: residual groups with squeeze-and-excitation"
                                    : "RegNetX: residual groups",
                        "image=224, classes=1000"},
                       build_regnet});
  }
  return entries;
}

}  // namespace foretrain::zoo
