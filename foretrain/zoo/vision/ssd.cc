// SPDX-License-Identifier: Apache-2.0
// SSD for images of 300x300 (Liu et al., ECCV 2016): `ssd300` as NVIDIA trains it, on the first
// three stages of a ResNet-50, and `ssd300_vgg16` as in torchvision. Each keeps its source's names.
#include <array>

#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/vision/detection_layers.h"
#include "foretrain/zoo/vision/residual.h"
#include "foretrain/zoo/vision/vision_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

constexpr std::array kAnchors{4, 6, 6, 6, 4, 4};  // per pixel of each map
constexpr std::int64_t kImage = 300;
constexpr const char* kLeftOut =
    "matching boxes with anchors and choosing hard negatives are not counted";

// NVIDIA's: the third stage keeps the image's size.
TensorId residual_backbone(Builder& b, TensorId x) {
  const Scope scope(b, "feature_extractor.feature_extractor");
  const Residual& net = residual_named("resnet50");
  x = conv_norm_relu(b, 0, x, {.channels = 64, .kernel = 7, .stride = 2, .padding = 3});
  x = max_pool(b, "3", x, {.kernel = 3, .stride = 2, .padding = 1});
  x = residual_stage(b, x, net, 0, {.name = "4"});
  x = residual_stage(b, x, net, 1, {.stride = 2, .name = "5"});
  return residual_stage(b, x, net, 2, {.name = "6"});
}

// Each smaller than the one before.
std::vector<TensorId> residual_maps(Builder& b, TensorId x) {
  constexpr int kWidths[][2] = {{256, 512}, {256, 512}, {128, 256}, {128, 256}, {128, 256}};
  std::vector<TensorId> maps{x};
  for (std::size_t i = 0; i < std::size(kWidths); ++i) {
    const Scope scope(b, "additional_blocks." + std::to_string(i));
    x = conv_norm_relu(b, 0, x, {.channels = kWidths[i][0]});
    const Conv narrowing{.channels = kWidths[i][1], .kernel = 3};
    x = conv_norm_relu(b, 3, x, i < 3 ? padded_conv(kWidths[i][1], 3, 2) : narrowing);
    maps.push_back(x);
  }
  return maps;
}

// Convolutions "name.0" to "name.5", as [batch, columns, anchors] side by side.
TensorId scores(Builder& b, const std::string& name, const std::vector<TensorId>& maps,
                std::int64_t columns) {
  std::vector<TensorId> parts;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const Conv layer = biased(padded_conv(kAnchors[i] * columns, 3));
    const TensorId x = conv(b, name + "." + std::to_string(i), maps[i], layer);
    parts.push_back(b.add(Kind::Reshape, {x}, {{Attr::Shape, {0, columns, -1}}}));
  }
  return b.add(Kind::Concat, parts, {{Attr::Axis, {2}}});
}

graph::Graph build_ssd300(Spec& spec) {
  Builder b(spec.name());
  const TensorId x = pictures(b, spec, kImage, kImage);
  const std::int64_t count = classes(spec, 81);
  const std::vector<TensorId> maps = residual_maps(b, residual_backbone(b, x));
  const TensorId places = scores(b, "loc", maps, 4);
  const TensorId labels = scores(b, "conf", maps, count);
  b.output(places);
  b.output(labels);
  b.note(kLeftOut);
  const TensorId wanted = b.input("labels_targets", {b.batch(), b.shape(labels)[2]}, DType::I64);
  sum_losses(b, {pointwise_loss(b, "places", places), cross_entropy(b, "labels", labels, wanted)});
  return b.finish();
}

TensorId biased_relu(Builder& b, int index, TensorId x, const Conv& layer) {
  return relu(b, std::to_string(index + 1), conv(b, std::to_string(index), x, biased(layer)));
}

// VGG-16 up to conv4_3.
TensorId vgg_features(Builder& b, TensorId x) {
  const Scope scope(b, "features");
  int index = 0;
  constexpr int kStages[][2] = {{2, 64}, {2, 128}, {3, 256}, {3, 512}};
  for (const auto& [layers, width] : kStages) {
    if (index > 0) {
      x = max_pool(b, std::to_string(index++), x,
                   {.kernel = 2, .stride = 2, .ceil_mode = width == 512});
    }
    for (int i = 0; i < layers; ++i, index += 2) {
      x = biased_relu(b, index, x, padded_conv(width, 3));
    }
  }
  return x;
}

// conv5 and the former fully connected layers, the second dilated.
TensorId vgg_end(Builder& b, TensorId x) {
  const Scope scope(b, "extra.0");
  x = max_pool(b, "0", x, {});
  for (const int index : {1, 3, 5}) x = biased_relu(b, index, x, padded_conv(512, 3));
  const Scope inner(b, "7");
  x = max_pool(b, "0", x, {.kernel = 3, .stride = 1, .padding = 1});
  x = biased_relu(b, 1, x, {.channels = 1024, .kernel = 3, .padding = 6, .dilation = 6});
  return biased_relu(b, 3, x, {.channels = 1024});
}

// Over each pixel's length, times a learned scale; the length costs what a sum does.
TensorId rescaled(Builder& b, TensorId x) {
  const std::int64_t width = channels(b, x);
  const TensorId weight = b.parameter("scale_weight", {width});
  const TensorId length =
      b.add(Kind::Clip, {b.add(Kind::Sum, {x}, {{Attr::Axes, {1}}, {Attr::KeepDims, {1}}})});
  const TensorId scale = b.add(Kind::Reshape, {weight}, {{Attr::Shape, {1, width, 1, 1}}});
  return b.add(Kind::Mul, {scale, b.add(Kind::Div, {x, length})});
}

std::vector<TensorId> vgg_maps(Builder& b, TensorId x) {
  const Scope scope(b, "backbone");
  x = vgg_features(b, x);
  std::vector<TensorId> maps{rescaled(b, x)};
  x = vgg_end(b, x);
  maps.push_back(x);
  constexpr int kWidths[][2] = {{256, 512}, {128, 256}, {128, 256}, {128, 256}};
  for (std::size_t i = 0; i < std::size(kWidths); ++i) {
    const Scope inner(b, "extra." + std::to_string(i + 1));
    x = biased_relu(b, 0, x, {.channels = kWidths[i][0]});
    const Conv narrowing{.channels = kWidths[i][1], .kernel = 3};
    x = biased_relu(b, 2, x, i < 2 ? padded_conv(kWidths[i][1], 3, 2) : narrowing);
    maps.push_back(x);
  }
  return maps;
}

TensorId vgg_head(Builder& b, const std::string& name, const std::vector<TensorId>& maps,
                  std::int64_t columns) {
  const Scope scope(b, "head." + name + ".module_list");
  std::vector<TensorId> parts;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const Conv layer = biased(padded_conv(kAnchors[i] * columns, 3));
    parts.push_back(by_anchor(b, conv(b, std::to_string(i), maps[i], layer), columns));
  }
  return concat(b, parts);
}

graph::Graph build_ssd300_vgg16(Spec& spec) {
  Builder b(spec.name());
  const TensorId x = pictures(b, spec, kImage, kImage);
  const std::int64_t count = classes(spec, 91);
  const std::vector<TensorId> maps = vgg_maps(b, x);
  const TensorId places = vgg_head(b, "regression_head", maps, 4);
  const TensorId labels = vgg_head(b, "classification_head", maps, count);
  b.output(places);
  b.output(labels);
  b.note(kLeftOut);
  b.note("the first two convolutions stay as they were trained before, as torchvision has it");
  // A hundred anchors of an image match a box.
  const TensorId matched = pick(b, "matched", places, 100);
  sum_losses(b, {pointwise_loss(b, "places", matched), class_loss(b, "labels", labels)});
  graph::Graph graph = b.finish();
  freeze(graph, {"backbone.features.0.", "backbone.features.2."});
  return graph;
}

}  // namespace

std::vector<Entry> ssd_entries() {
  return {{{"ssd300", "Detection", "SSD on a ResNet-50, as NVIDIA trains it",
            "image=300, height, width, classes=81"},
           build_ssd300},
          {{"ssd300_vgg16", "Detection", "SSD on a VGG-16, as in torchvision",
            "image=300, height, width, classes=91"},
           build_ssd300_vgg16}};
}

}  // namespace foretrain::zoo
