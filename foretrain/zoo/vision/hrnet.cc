// SPDX-License-Identifier: Apache-2.0
// FCN on HRNet v2 (Wang et al., TPAMI 2020): maps of several sizes side by side, each made of all
// the others again and again. As MMSegmentation configures it ("FCN HRNetV2p-W18"), whose names it
// keeps.
#include <array>

#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/vision/residual.h"
#include "foretrain/zoo/vision/segmentation_layers.h"
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
  int width;                   // channels of the finest map; each coarser one has twice as many
  int bottlenecks;             // of the first stage
  std::array<int, 3> modules;  // of the others
  int blocks;                  // of every branch
};

constexpr std::array kRows{
    Row{"fcn_hrnet_w18_small", "FCN on HRNet v2, 18 channels wide, small", 18, 2, {1, 3, 2}, 2},
    Row{"fcn_hrnet_w18", "FCN on HRNet v2, 18 channels wide", 18, 4, {1, 4, 3}, 4},
    Row{"fcn_hrnet_w48", "FCN on HRNet v2, 48 channels wide", 48, 4, {1, 4, 3}, 4},
};

std::string text(std::size_t number) { return std::to_string(number); }

TensorId basic_block(Builder& b, TensorId x) {
  const Conv layer = padded_conv(channels(b, x), 3);
  const TensorId y = relu(b, "relu", batch_norm(b, "bn1", conv(b, "conv1", x, layer)));
  return add_and_relu(b, batch_norm(b, "bn2", conv(b, "conv2", y, layer)), x);
}

// Map `from` at the size and width of map `to`.
TensorId carried(Builder& b, const std::vector<TensorId>& maps, std::size_t from, std::size_t to) {
  const std::string name = "fuse_layers." + text(to) + "." + text(from);
  TensorId x = maps[from];
  if (from == to) return x;
  const std::int64_t width = channels(b, maps[to]);
  if (from > to) {
    x = conv_unit(b, name, x, padded_conv(width, 1), Kind::Identity);
    return resize(b, x, image_size(b, maps[to]));
  }
  for (std::size_t step = 0; step + 1 < to - from; ++step) {
    x = conv_unit(b, name + "." + text(step), x, padded_conv(channels(b, x), 3, 2));
  }
  return conv_unit(b, name + "." + text(to - from - 1), x, padded_conv(width, 3, 2),
                   Kind::Identity);
}

std::vector<TensorId> module(Builder& b, std::vector<TensorId> maps, int blocks) {
  for (std::size_t i = 0; i < maps.size(); ++i) {
    for (int k = 0; k < blocks; ++k) {
      const Scope scope(b, "branches." + text(i) + "." + std::to_string(k));
      maps[i] = basic_block(b, maps[i]);
    }
  }
  std::vector<TensorId> fused;
  for (std::size_t to = 0; to < maps.size(); ++to) {
    TensorId sum = carried(b, maps, 0, to);
    for (std::size_t from = 1; from < maps.size(); ++from) {
      sum = b.add(Kind::Add, {sum, carried(b, maps, from, to)});
    }
    fused.push_back(relu(b, "relu", sum));
  }
  return fused;
}

// The first stage's map becomes two, then a coarser one is added before each stage.
void widen(Builder& b, std::vector<TensorId>& maps, int width) {
  const Scope scope(b, "transition" + text(maps.size()));
  const TensorId last = maps.back();
  const std::size_t count = maps.size();
  if (count == 1) maps[0] = conv_unit(b, "0", last, padded_conv(width, 3));
  const std::int64_t out = std::int64_t{width} << count;
  maps.push_back(conv_unit(b, text(count) + ".0", last, padded_conv(out, 3, 2)));
}

std::vector<TensorId> backbone(Builder& b, TensorId x, const Row& row) {
  const Scope scope(b, "backbone");
  x = relu(b, "relu", batch_norm(b, "bn1", conv(b, "conv1", x, padded_conv(64, 3, 2))));
  x = relu(b, "relu", batch_norm(b, "bn2", conv(b, "conv2", x, padded_conv(64, 3, 2))));
  const Residual first{"hrnet", true, {row.bottlenecks, 0, 0, 0}};
  std::vector<TensorId> maps{residual_stage(b, x, first, 0, {})};
  for (std::size_t stage = 0; stage < row.modules.size(); ++stage) {
    widen(b, maps, row.width);
    for (int i = 0; i < row.modules[stage]; ++i) {
      const Scope inner(b, "stage" + text(stage + 2) + "." + std::to_string(i));
      maps = module(b, std::move(maps), row.blocks);
    }
  }
  return maps;
}

graph::Graph build_hrnet(Spec& spec) {
  const Row& row = row_of(kRows, spec);
  Builder b(spec.name());
  const TensorId x = pictures(b, spec, {512, 1024}, 32);
  const Pair image = image_size(b, x);
  const std::int64_t count = classes(spec, 19);
  std::vector<TensorId> maps = backbone(b, x, row);
  const Pair finest = image_size(b, maps[0]);
  for (std::size_t i = 1; i < maps.size(); ++i) maps[i] = resize(b, maps[i], finest);
  b.enter("decode_head");
  TensorId y = concat(b, maps);
  y = conv(b, "convs.0.conv", y, {.channels = channels(b, y)});
  y = relu(b, "convs.0.activate", batch_norm(b, "convs.0.bn", y));
  y = conv(b, "conv_seg", y, {.channels = count, .bias = true});
  b.leave();
  const PixelLoss main = pixel_loss(b, "loss", y, image, pixel_targets(b, image));
  b.output(main.logits);
  b.loss(main.loss);
  return b.finish();
}

}  // namespace

std::vector<Entry> hrnet_entries() {
  return entries_of(kRows, "Segmentation", "height=512, width=1024, image, classes=19",
                    build_hrnet);
}

}  // namespace foretrain::zoo
