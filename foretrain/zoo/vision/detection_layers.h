// SPDX-License-Identifier: Apache-2.0
// What detectors share: layers that run on several maps, feature pyramids, losses over anchors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "foretrain/graph/builder.h"
#include "foretrain/zoo/detail/layers.h"
#include "foretrain/zoo/detail/spec.h"

namespace foretrain::zoo {

// A convolution with bias whose weights serve several maps.
struct SharedConv {
  std::string name;
  graph::TensorId weight{};
  graph::TensorId bias{};
};
SharedConv shared_conv(graph::Builder& builder, const std::string& name, std::int64_t in,
                       std::int64_t out, std::int64_t kernel);
// Keeps the map's size.
graph::TensorId apply(graph::Builder& builder, const SharedConv& layer, graph::TensorId x);

// Feature pyramid (Lin et al., CVPR 2017) of 256 channels in the scope "fpn": maps from fine to
// coarse in and out.
std::vector<graph::TensorId> feature_pyramid(graph::Builder& builder,
                                             const std::vector<graph::TensorId>& features);

// [batch, anchors * columns, h, w] as [batch, h * w * anchors, columns]: a copy.
graph::TensorId by_anchor(graph::Builder& builder, graph::TensorId x, std::int64_t columns);

// Rows `count` of axis 1, which are the same in number whatever the images show.
graph::TensorId pick(graph::Builder& builder, const std::string& name, graph::TensorId x,
                     std::int64_t count);

// Loss of predictions against targets of their shape, which are fed at every step as `name`.
graph::TensorId pointwise_loss(graph::Builder& builder, const std::string& name,
                               graph::TensorId predictions);
// Cross entropy over the last axis, likewise.
graph::TensorId class_loss(graph::Builder& builder, const std::string& name,
                           graph::TensorId logits);
// How boxes are matched with anchors while a network learns. Frameworks do so for one image after
// the other, with several values in fp32 for each pair at once.
struct Matching {
  std::int64_t objects = 0;  // of the image that has most; 0: matching is not counted
  std::int64_t values = 10;  // 10 in MMDetection (bbox_overlaps), 6 in Detectron2 (pairwise_iou)
};
Matching matching(Spec& spec);  // takes `objects` and `overlap_values`
// What that holds at once with so many anchors; how long it takes is not counted.
void match(graph::Builder& builder, const Matching& matching, std::int64_t anchors);

// Focal loss (Lin et al., ICCV 2017) of every anchor that matches clearly or not at all: nearly
// all. Targets are made on the device and are as large as the logits.
graph::TensorId focal_loss(graph::Builder& builder, graph::TensorId logits);
void sum_losses(graph::Builder& builder, const std::vector<graph::TensorId>& losses);

// Parameters whose name begins with one of `prefixes` do not learn.
void freeze(graph::Graph& graph, const std::vector<std::string>& prefixes);

}  // namespace foretrain::zoo
