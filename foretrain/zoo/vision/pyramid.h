// SPDX-License-Identifier: Apache-2.0
// Detectors on a feature pyramid over a residual network, as torchvision builds them upon weights
// that were trained before: norms are frozen (`norms=1`: they learn, as in MMDetection; `norms=2`:
// Detectron's, which Caffe2 keeps as blobs), and so are the stem and the first stage. In networks
// trained with Caffe a bottleneck's first convolution has the stride (`stride_in_1x1=1`). The
// heads' ReLUs overwrite what they read, or, as in Detectron2, do not (`inplace=0`).
#pragma once

#include <string>
#include <vector>

#include "foretrain/graph/builder.h"
#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/detail/spec.h"

namespace foretrain::zoo {

// Input images: 800 x 1088, which a picture of 640 x 480 becomes when its shorter side is made 800
// long and both are filled up to multiples of 32. Notes it.
graph::TensorId detector_images(graph::Builder& builder, Spec& spec);

// The pyramid's maps over the stages from `first` (0 to 3), from fine to coarse, of the network
// that the model's name has behind `detector`. Takes `norms` and
// `stride_in_1x1`.
std::vector<graph::TensorId> pyramid_backbone(graph::Builder& builder, Spec& spec,
                                              graph::TensorId x, const std::string& detector,
                                              std::size_t first);

// Takes `trainable_layers` (3): so many of stem and stages learn, from the last on.
void freeze_backbone(graph::Graph& graph, std::int64_t trainable_layers);
std::int64_t trainable_layers(Spec& spec);

// Takes `inplace` (1): what is not the backbone's overwrites its input or, with 0, nothing does.
void place_heads(graph::Graph& graph, Spec& spec);

// "retinanet_resnet50_fpn" is the detector "retinanet" over "resnet50": a row for every network
// that model zoos offer.
std::vector<Entry> pyramid_rows(const std::string& detector, const std::string& about,
                                const std::string& parameters, graph::Graph (*build)(Spec&));

}  // namespace foretrain::zoo
