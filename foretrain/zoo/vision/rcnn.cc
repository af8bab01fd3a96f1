// SPDX-License-Identifier: Apache-2.0
// Faster R-CNN (Ren, He, Girshick, Sun, NeurIPS 2015), Mask R-CNN and Keypoint R-CNN (He, Gkioxari,
// Dollar, Girshick, ICCV 2017) on feature pyramids, as in torchvision; the first stage alone (RPN),
// and Cascade R-CNN (Cai, Vasconcelos, CVPR 2018) as MMDetection builds it. Which proposals the
// second stage sees depends on the images; how many is fixed, and that is what counts here.
#include <algorithm>
#include <optional>

#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/vision/detection_layers.h"
#include "foretrain/zoo/vision/pyramid.h"
#include "foretrain/zoo/vision/vision_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Builder;
using graph::Dim;
using graph::Kind;
using graph::Scope;
using graph::Shape;
using graph::TensorId;

constexpr std::int64_t kChannels = 256;
constexpr std::int64_t kAnchors = 3;     // per pixel of each map
constexpr std::int64_t kSampled = 256;   // anchors of an image that the first stage learns from
constexpr std::int64_t kBest = 2000;     // anchors of a map that may become proposals
constexpr std::int64_t kPooledMaps = 4;  // proposals are cut out of these
constexpr std::int64_t kKeypoints = 17;  // of a person
constexpr int kCascade = 3;              // box heads, each on what the one before found

// The first stage: which anchors show anything, and where. Adds its losses; returns both.
std::vector<TensorId> region_proposals(Builder& b, std::vector<TensorId> maps,
                                       const Matching& matching, std::vector<TensorId>& losses) {
  const Scope scope(b, "rpn");
  maps.push_back(max_pool(b, "", maps.back(), {.kernel = 1, .stride = 2}));
  const SharedConv first = shared_conv(b, "head.conv.0.0", kChannels, kChannels, 3);
  const SharedConv logits = shared_conv(b, "head.cls_logits", kChannels, kAnchors, 1);
  const SharedConv deltas = shared_conv(b, "head.bbox_pred", kChannels, 4 * kAnchors, 1);
  std::vector<TensorId> objects;
  std::vector<TensorId> boxes;
  for (const TensorId map : maps) {
    const TensorId x = relu(b, "head.conv.0.1", apply(b, first, map));
    objects.push_back(by_anchor(b, apply(b, logits, x), 1));
    boxes.push_back(by_anchor(b, apply(b, deltas, x), 4));
    const std::int64_t anchors = b.shape(objects.back())[1].factor;
    b.add_all(Kind::TopK, {objects.back()},
              {{Attr::Axis, {1}}, {Attr::Sizes, {std::min(kBest, anchors)}}});
  }
  const TensorId all_objects = concat(b, objects);
  const TensorId all_boxes = concat(b, boxes);
  match(b, matching, b.shape(all_objects)[1].factor);
  const TensorId sampled = pick(b, "sampled", all_objects, kSampled);
  const TensorId positive = pick(b, "positive", all_boxes, kSampled / 2);
  losses.push_back(pointwise_loss(b, "objectness", sampled));
  losses.push_back(pointwise_loss(b, "rpn_box", positive));
  return {all_objects, all_boxes};
}

// `count` proposals of each image, `side` x `side`, cut out of the maps in equal shares. RoIAlign
// is costed as a gather: what it writes is read once, further reads hit the cache.
TensorId cut_out(Builder& b, const std::string& name, const std::vector<TensorId>& maps,
                 std::int64_t count, std::int64_t side) {
  const Scope scope(b, name);
  const std::int64_t pixels = side * side;
  std::vector<TensorId> parts;
  for (std::int64_t i = 0; i < kPooledMaps; ++i) {
    const std::int64_t share = (count + kPooledMaps - 1 - i) / kPooledMaps;
    if (share == 0) continue;
    const TensorId flat = b.add(Kind::Reshape, {maps[static_cast<std::size_t>(i)]},
                                {{Attr::Shape, {0, kChannels, -1}}});
    const TensorId index = b.buffer("samples" + std::to_string(i), {share * pixels}, DType::I64);
    parts.push_back(b.add(Kind::Gather, {flat, index}, {{Attr::Axis, {2}}}));
  }
  // The copy that puts the shares together also orders them by proposals.
  TensorId x = b.add(Kind::Concat, parts, {{Attr::Axis, {2}}});
  x = b.add(Kind::Reshape, {x}, {{Attr::Shape, {0, kChannels, count, pixels}}});
  x = b.add(Kind::Transpose, {x}, {{Attr::Axes, {0, 2, 1, 3}}});
  return b.add(Kind::Reshape, {x},
               {{Attr::Shape, {b.batch() * Dim(count), kChannels, side, side}}});
}

// Tells `count` classes apart; a box for each of `kinds` of them. Targets end in `suffix`.
void box_head(Builder& b, const std::vector<TensorId>& maps, std::int64_t proposals,
              std::int64_t count, std::int64_t kinds, const std::string& suffix,
              std::vector<TensorId>& losses) {
  TensorId x = flatten(b, cut_out(b, "box_roi_pool", maps, proposals, 7));
  x = b.add(Kind::Relu, {linear(b, "box_head.fc6", x, 1024)});
  x = b.add(Kind::Relu, {linear(b, "box_head.fc7", x, 1024)});
  const TensorId labels = linear(b, "box_predictor.cls_score", x, count);
  TensorId boxes = linear(b, "box_predictor.bbox_pred", x, 4 * kinds);
  b.output(labels);
  b.output(boxes);
  losses.push_back(class_loss(b, "class" + suffix, labels));
  boxes = b.add(Kind::Reshape, {boxes}, {{Attr::Shape, {b.batch(), proposals, kinds, 4}}});
  boxes = pick(b, "positive", boxes, proposals / 4);
  boxes = b.add(Kind::Slice, {boxes}, {{Attr::Axis, {2}}, {Attr::Start, {0}}, {Attr::End, {1}}});
  losses.push_back(pointwise_loss(b, "box" + suffix, boxes));
}

TensorId convolutions(Builder& b, const std::string& name, TensorId x, int layers,
                      std::int64_t width, int step) {
  const Scope scope(b, name);
  const Conv layer = biased(padded_conv(width, 3));
  for (int i = 0; i < layers; ++i) {
    const std::string index = std::to_string(i * step) + (step == 1 ? ".0" : "");
    x = relu(b, "", conv(b, index, x, layer));
  }
  return x;
}

// Targets are cut out of an image's bitmaps, of which MMDetection makes one per proposal, in fp32
// and for one image at a time: what else happens to them is as small as the targets.
void copy_bitmaps(Builder& b, std::int64_t proposals, Pair image) {
  const TensorId objects = b.buffer("bitmaps", {1, image.height, image.width});
  const TensorId index = b.buffer("matched", {proposals}, DType::I64);
  b.add(Kind::Gather, {objects, index}, {{Attr::Axis, {0}}});
}

void mask_head(Builder& b, const std::vector<TensorId>& maps, std::int64_t proposals,
               std::int64_t count, const std::string& suffix, std::optional<Pair> bitmaps,
               std::vector<TensorId>& losses) {
  TensorId x = cut_out(b, "mask_roi_pool", maps, proposals, 14);
  x = convolutions(b, "mask_head", x, 4, kChannels, 1);
  const Scope scope(b, "mask_predictor");
  x = relu(b, "relu", enlarging_conv(b, "conv5_mask", x, kChannels, 2));
  x = conv(b, "mask_fcn_logits", x, {.channels = count, .bias = true});
  b.output(x);
  if (bitmaps) copy_bitmaps(b, proposals, *bitmaps);
  x = b.add(Kind::Slice, {x}, {{Attr::Axis, {1}}, {Attr::Start, {0}}, {Attr::End, {1}}});
  losses.push_back(pointwise_loss(b, "mask" + suffix, x));
}

void keypoint_head(Builder& b, const std::vector<TensorId>& maps, std::int64_t proposals,
                   std::vector<TensorId>& losses) {
  TensorId x = cut_out(b, "keypoint_roi_pool", maps, proposals, 14);
  x = convolutions(b, "keypoint_head", x, 8, 512, 2);
  const Scope scope(b, "keypoint_predictor");
  {
    const Scope inner(b, "kps_score_lowres");
    const TensorId weight = b.parameter("weight", {512, kKeypoints, 4, 4});
    const TensorId bias = b.parameter("bias", {kKeypoints});
    x = b.add(Kind::Conv, {x, weight, bias},
              {{Attr::Stride, {2}}, {Attr::Padding, {1}}, {Attr::Transposed, {1}}});
  }
  x = resize(b, x, 2 * image_size(b, x).height);
  b.output(x);
  // Which of the pixels each keypoint is.
  const Shape shape = b.shape(x);
  x = b.add(Kind::Reshape, {x}, {{Attr::Shape, {shape[0] * shape[1], shape[2] * shape[3]}}});
  losses.push_back(class_loss(b, "keypoint", x));
}

enum class Stages { First, Both, Cascade };
enum class Head { Boxes, Masks, Keypoints };

struct Detector {
  const char* name;
  Stages stages = Stages::Both;
  Head head = Head::Boxes;
  std::optional<Pair> bitmaps{};  // the images' size, where masks are given as bitmaps
};

void heads(Builder& b, const Detector& detector, const std::vector<TensorId>& maps,
           std::int64_t proposals, std::int64_t count, const std::string& suffix,
           std::vector<TensorId>& losses) {
  const bool cascade = detector.stages == Stages::Cascade;
  box_head(b, maps, proposals, count, cascade ? 1 : count, suffix, losses);
  if (detector.head == Head::Masks) {
    mask_head(b, maps, proposals / 4, count, suffix, detector.bitmaps, losses);
  }
  if (detector.head == Head::Keypoints) keypoint_head(b, maps, proposals / 4, losses);
}

void second_stage(Builder& b, Spec& spec, const Detector& detector,
                  const std::vector<TensorId>& maps, std::vector<TensorId>& losses) {
  const std::int64_t count = classes(spec, detector.head == Head::Keypoints ? 2 : 91);
  const std::int64_t proposals = spec.take("proposals", 512, 4, 16384);
  const Scope scope(b, "roi_heads");
  if (detector.stages == Stages::Both) {
    heads(b, detector, maps, proposals, count, "", losses);
  } else {
    for (int i = 0; i < kCascade; ++i) {
      const Scope stage(b, std::to_string(i));
      heads(b, detector, maps, proposals, count, std::to_string(i), losses);
    }
  }
  b.note(std::to_string(proposals) +
         " proposals of an image, a quarter of them of objects; "
         "matching them, decoding boxes and dropping overlapping ones are not counted");
}

graph::Graph build_detector(Spec& spec, Detector detector) {
  Builder b(spec.name());
  const TensorId x = detector_images(b, spec);
  if (detector.head == Head::Masks && spec.take("bitmaps", 0, 0, 1) == 1) {
    detector.bitmaps = image_size(b, x);
  }
  const std::int64_t trainable = trainable_layers(spec);
  const std::vector<TensorId> maps = pyramid_backbone(b, spec, x, detector.name, 0);
  std::vector<TensorId> losses;
  const Matching matched = matching(spec);
  if (detector.stages == Stages::First) {
    for (const TensorId found : region_proposals(b, maps, matched, losses)) b.output(found);
  } else {
    if (spec.take("rpn", 1, 0, 1) == 1) {
      region_proposals(b, maps, matched, losses);
    } else {
      b.note("proposals are read, not computed");
    }
    second_stage(b, spec, detector, maps, losses);
  }
  sum_losses(b, losses);
  graph::Graph graph = b.finish();
  freeze_backbone(graph, trainable);
  place_heads(graph, spec);
  return graph;
}

graph::Graph build_rpn(Spec& spec) { return build_detector(spec, {"rpn", Stages::First}); }
graph::Graph build_faster(Spec& spec) { return build_detector(spec, {"fasterrcnn"}); }
graph::Graph build_mask(Spec& spec) {
  return build_detector(spec, {"maskrcnn", Stages::Both, Head::Masks});
}
graph::Graph build_keypoint(Spec& spec) {
  return build_detector(spec, {"keypointrcnn", Stages::Both, Head::Keypoints});
}
graph::Graph build_cascade(Spec& spec) {
  return build_detector(spec, {"cascadercnn", Stages::Cascade});
}
graph::Graph build_cascade_mask(Spec& spec) {
  return build_detector(spec, {"cascademaskrcnn", Stages::Cascade, Head::Masks});
}

}  // namespace

std::vector<Entry> rcnn_entries() {
  struct Row {
    const char* name;
    const char* about;
    const char* parameters;
    graph::Graph (*build)(Spec&);
  };
  constexpr const char* kUsual = "classes=91, proposals=512, rpn=1";
  constexpr const char* kWithMasks = "classes=91, proposals=512, rpn=1, bitmaps=0";
  const Row rows[] = {
      {"fasterrcnn", "Faster R-CNN", kUsual, build_faster},
      {"maskrcnn", "Mask R-CNN", kWithMasks, build_mask},
      {"keypointrcnn", "Keypoint R-CNN", "classes=2, proposals=512, rpn=1", build_keypoint},
      {"cascadercnn", "Cascade R-CNN", kUsual, build_cascade},
      {"cascademaskrcnn", "Cascade Mask R-CNN", kWithMasks, build_cascade_mask},
      {"rpn", "region proposals", "", build_rpn},
  };
  std::vector<Entry> entries;
  for (const Row& row : rows) {
    for (Entry& entry : pyramid_rows(row.name, row.about, row.parameters, row.build)) {
      entries.push_back(std::move(entry));
    }
  }
  return entries;
}

}  // namespace foretrain::zoo
