// SPDX-License-Identifier: Apache-2.0
// EfficientDet (Tan, Pang, Le, CVPR 2020): maps of an EfficientNet are combined up and down several
// times, then convolutions that all maps share predict classes and boxes. As in rwightman's
// effdet, which NVIDIA trains.
#include <array>

#include "foretrain/base/error.h"
#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/vision/detection_layers.h"
#include "foretrain/zoo/vision/efficientnet.h"
#include "foretrain/zoo/vision/vision_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

constexpr std::int64_t kAnchors = 9;       // per pixel of each map
constexpr std::int64_t kForeground = 100;  // anchors of an image that match a box
constexpr std::int64_t kStride = 128;      // of the coarsest map
constexpr Pool kHalving{.kernel = 3, .stride = 2, .padding = 1};

struct Row {
  const char* name;
  const char* network;
  int image;
  int channels;
  int cells;    // of the pyramid
  int repeats;  // of the heads' convolutions
};

constexpr std::array kRows{
    Row{"efficientdet_d0", "efficientnet_b0", 512, 64, 3, 3},
    Row{"efficientdet_d1", "efficientnet_b1", 640, 88, 4, 3},
    Row{"efficientdet_d2", "efficientnet_b2", 768, 112, 5, 3},
    Row{"efficientdet_d3", "efficientnet_b3", 896, 160, 6, 4},
};

// What a node of a cell combines: maps by number, 0 to 4 from fine to coarse, then nodes.
struct Combination {
  std::size_t level;  // of its size
  std::vector<std::size_t> inputs;
};
const std::array<Combination, 8> kCombinations{{{3, {3, 4}},
                                                {2, {2, 5}},
                                                {1, {1, 6}},
                                                {0, {0, 7}},
                                                {1, {1, 7, 8}},
                                                {2, {2, 6, 9}},
                                                {3, {3, 5, 10}},
                                                {4, {4, 11}}}};

TensorId to_width(Builder& b, TensorId x, std::int64_t width) {
  if (channels(b, x) == width) return x;
  const Scope scope(b, "conv");
  return batch_norm(b, "bn", conv(b, "conv", x, {.channels = width}));
}

TensorId resampled(Builder& b, TensorId x, std::int64_t width, Pair size) {
  x = to_width(b, x, width);
  const std::int64_t height = image_size(b, x).height;
  if (height > size.height) return max_pool(b, "downsample", x, kHalving);
  return height < size.height ? resize(b, x, size) : x;
}

// Sum of the maps, each weighted by a learned share.
TensorId combined(Builder& b, const std::vector<TensorId>& maps, const Combination& node,
                  std::int64_t width, Pair size) {
  const Scope scope(b, "combine");
  const auto count = static_cast<std::int64_t>(node.inputs.size());
  const TensorId weights = b.add(Kind::Relu, {b.parameter("edge_weights", {count})});
  const TensorId total = b.add(Kind::Shift, {b.add(Kind::Sum, {weights})});
  std::vector<TensorId> parts;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t input = node.inputs[static_cast<std::size_t>(i)];
    b.enter("resample." + std::to_string(input));
    TensorId x = resampled(b, maps[input], width, size);
    b.leave();
    const TensorId weight =
        b.add(Kind::Slice, {weights}, {{Attr::Start, {i}}, {Attr::End, {i + 1}}});
    x = b.add(Kind::Div, {b.add(Kind::Mul, {x, weight}), total});
    x = b.add(Kind::Reshape, {x}, {{Attr::Shape, {0, width, size.height, size.width, 1}}});
    parts.push_back(x);
  }
  const TensorId stacked = b.add(Kind::Concat, parts, {{Attr::Axis, {4}}});
  return b.add(Kind::Sum, {stacked}, {{Attr::Axes, {4}}});
}

std::vector<TensorId> cell(Builder& b, std::vector<TensorId> maps, std::int64_t width) {
  for (std::size_t i = 0; i < kCombinations.size(); ++i) {
    const Scope scope(b, "fnode." + std::to_string(i));
    const Pair size = image_size(b, maps[kCombinations[i].level]);
    TensorId x = combined(b, maps, kCombinations[i], width, size);
    const Scope inner(b, "after_combine");
    x = activate(b, "act", Kind::Silu, x);
    x = conv(b, "conv.conv_dw", x, padded_conv(width, 3, 1, width));
    maps.push_back(batch_norm(b, "conv.bn", conv(b, "conv.conv_pw", x, {.channels = width})));
  }
  return {maps.end() - 5, maps.end()};
}

std::vector<TensorId> pyramid(Builder& b, std::vector<TensorId> maps, const Row& row) {
  const Scope scope(b, "fpn");
  {
    const Scope inner(b, "resample.3");
    maps.push_back(max_pool(b, "downsample", to_width(b, maps.back(), row.channels), kHalving));
  }
  maps.push_back(max_pool(b, "resample.4.downsample", maps.back(), kHalving));
  for (int i = 0; i < row.cells; ++i) {
    const Scope inner(b, "cell." + std::to_string(i));
    maps = cell(b, std::move(maps), row.channels);
  }
  return maps;
}

// A convolution of each channel, then one across channels; the same weights for every map.
struct Separable {
  TensorId depthwise{};
  TensorId pointwise{};
  TensorId bias{};
  bool biased = false;

  Separable(Builder& b, const std::string& name, std::int64_t in, std::int64_t out, bool with_bias)
      : biased(with_bias) {
    const Scope scope(b, name);
    depthwise = b.parameter("conv_dw.weight", {in, 1, 3, 3});
    pointwise = b.parameter("conv_pw.weight", {out, in, 1, 1});
    if (with_bias) bias = b.parameter("conv_pw.bias", {out});
  }

  TensorId operator()(Builder& b, TensorId x) const {
    x = b.add(Kind::Conv, {x, depthwise}, {{Attr::Padding, {1}}, {Attr::Groups, {channels(b, x)}}});
    return biased ? b.add(Kind::Conv, {x, pointwise, bias}) : b.add(Kind::Conv, {x, pointwise});
  }
};

// [batch, anchors, columns]. The norms of each map are its own.
TensorId head(Builder& b, const std::string& name, const std::vector<TensorId>& maps,
              std::int64_t columns, const Row& row) {
  const Scope scope(b, name);
  std::vector<Separable> layers;
  layers.reserve(static_cast<std::size_t>(row.repeats));
  for (int i = 0; i < row.repeats; ++i) {
    layers.emplace_back(b, "conv_rep." + std::to_string(i), row.channels, row.channels, false);
  }
  const Separable last(b, "predict", row.channels, kAnchors * columns, true);
  std::vector<TensorId> parts;
  for (std::size_t level = 0; level < maps.size(); ++level) {
    TensorId x = maps[level];
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const Scope inner(b, "bn_rep." + std::to_string(i) + "." + std::to_string(level));
      x = activate(b, "act", Kind::Silu, batch_norm(b, "bn", layers[i](b, x)));
    }
    parts.push_back(by_anchor(b, last(b, x), columns));
  }
  return concat(b, parts);
}

graph::Graph build_efficientdet(Spec& spec) {
  const Row& row = row_of(kRows, spec);
  Builder b(spec.name());
  const TensorId x = images(b, spec, row.image, kStride);
  const std::int64_t image = b.shape(x)[2].factor;
  if (image % kStride != 0) {
    throw Error(ErrorKind::BadInput, "model '" + spec.name() + "': image=" + std::to_string(image) +
                                         " is not a multiple of 128, the stride of its last map");
  }
  const std::int64_t count = classes(spec, 90);
  b.enter("backbone");
  const std::vector<TensorId> stages = efficientnet_stages(b, x, row.network);
  b.leave();
  const std::vector<TensorId> maps = pyramid(b, {stages[2], stages[4], stages[6]}, row);
  const TensorId labels = head(b, "class_net", maps, count, row);
  const TensorId boxes = head(b, "box_net", maps, 4, row);
  b.output(labels);
  b.output(boxes);
  b.note("matching boxes with anchors is not counted; " + std::to_string(kForeground) +
         " anchors of an image match a box");
  const TensorId matched = pick(b, "matched", boxes, kForeground);
  sum_losses(b, {focal_loss(b, labels), pointwise_loss(b, "boxes", matched)});
  return b.finish();
}

}  // namespace

std::vector<Entry> efficientdet_entries() {
  std::vector<Entry> entries;
  entries.reserve(kRows.size());
  for (const Row& row : kRows) {
    entries.push_back({{row.name, "Detection", std::string("EfficientDet on ") + row.network,
                        "image=" + std::to_string(row.image) + ", classes=90"},
                       build_efficientdet});
  }
  return entries;
}

}  // namespace foretrain::zoo
