// SPDX-License-Identifier: Apache-2.0
// RetinaNet (Lin, Goyal, Girshick, He, Dollar, ICCV 2017), as in torchvision. With `fused_loss=1`
// the focal loss is one kernel, as in MMDetection, which like a cross entropy keeps one value per
// logit and takes the index of the class.
#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/vision/detection_layers.h"
#include "foretrain/zoo/vision/pyramid.h"
#include "foretrain/zoo/vision/vision_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

constexpr const char* kName = "retinanet";
constexpr std::int64_t kChannels = 256;
constexpr std::int64_t kAnchors = 9;       // per pixel of each map
constexpr std::int64_t kForeground = 100;  // anchors of an image that match a box

// Two coarser maps.
void extend(Builder& b, std::vector<TensorId>& maps) {
  const Scope scope(b, "backbone.fpn.extra_blocks");
  const Conv halving = biased(padded_conv(kChannels, 3, 2));
  maps.push_back(conv(b, "p6", maps.back(), halving));
  const TensorId active = b.add(Kind::Relu, {maps.back()});
  maps.push_back(conv(b, "p7", active, halving));
}

// Four convolutions and a last one, the same for every map: [batch, anchors, columns].
TensorId head(Builder& b, const std::string& name, const std::string& last_name,
              const std::vector<TensorId>& maps, std::int64_t columns) {
  const Scope scope(b, "head." + name);
  std::vector<SharedConv> layers;
  layers.reserve(4);
  for (int i = 0; i < 4; ++i) {
    layers.push_back(shared_conv(b, "conv." + std::to_string(i) + ".0", kChannels, kChannels, 3));
  }
  const SharedConv last = shared_conv(b, last_name, kChannels, kAnchors * columns, 3);
  std::vector<TensorId> parts;
  for (TensorId x : maps) {
    for (const SharedConv& layer : layers) x = relu(b, "", apply(b, layer, x));
    parts.push_back(by_anchor(b, apply(b, last, x), columns));
  }
  return concat(b, parts);
}

graph::Graph build_retinanet(Spec& spec) {
  Builder b(spec.name());
  const TensorId x = detector_images(b, spec);
  const std::int64_t count = classes(spec, 91);
  const std::int64_t trainable = trainable_layers(spec);
  const bool fused = spec.take("fused_loss", 0, 0, 1) == 1;
  std::vector<TensorId> maps = pyramid_backbone(b, spec, x, kName, 1);
  extend(b, maps);
  const TensorId labels = head(b, "classification_head", "cls_logits", maps, count);
  const TensorId boxes = head(b, "regression_head", "bbox_reg", maps, 4);
  b.output(labels);
  b.output(boxes);
  b.note("matching boxes with anchors is not counted; " + std::to_string(kForeground) +
         " anchors of an image match a box");
  match(b, matching(spec), b.shape(labels)[1].factor);
  const TensorId matched = pick(b, "matched", boxes, kForeground);
  const TensorId class_losses = fused ? class_loss(b, "class", labels) : focal_loss(b, labels);
  sum_losses(b, {class_losses, pointwise_loss(b, "boxes", matched)});
  graph::Graph graph = b.finish();
  freeze_backbone(graph, trainable);
  place_heads(graph, spec);
  return graph;
}

}  // namespace

std::vector<Entry> retinanet_entries() {
  return pyramid_rows(kName, "RetinaNet", "classes=91, fused_loss=0", build_retinanet);
}

}  // namespace foretrain::zoo
