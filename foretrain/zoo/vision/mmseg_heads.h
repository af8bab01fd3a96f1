// SPDX-License-Identifier: Apache-2.0
// Parts of the heads that MMSegmentation puts on a backbone, and two whole ones.
#pragma once

#include <string>
#include <vector>

#include "foretrain/graph/builder.h"
#include "foretrain/zoo/detail/layers.h"

namespace foretrain::zoo {

// Convolution, batch norm, ReLU.
graph::TensorId conv_module(graph::Builder& builder, const std::string& name, graph::TensorId x,
                            const Conv& layer);

// The class of every pixel, after dropout.
graph::TensorId pixel_classes(graph::Builder& builder, graph::TensorId x, std::int64_t count);

// Every pixel looks at every other, in half as many channels (Wang et al., CVPR 2018).
graph::TensorId non_local(graph::Builder& builder, graph::TensorId x);

// A weighted mean of all pixels, through a bottleneck, is added to each (Cao et al., 2019).
graph::TensorId global_context(graph::Builder& builder, graph::TensorId x);

// Beside means over 1, 2, 3 and 6 parts of the image's sides, `width` channels (Zhao et al., 2017).
graph::TensorId pyramid_pooling(graph::Builder& builder, graph::TensorId x, std::int64_t width);

// Pixels look at those 8 rows and columns apart, then at those of their own 8 x 8 pixels: ISANet
// (Huang et al., 2019), up to the classes.
graph::TensorId interlaced_attention(graph::Builder& builder, graph::TensorId x,
                                     std::int64_t width);

// All stages in one: UPerNet (Xiao et al., ECCV 2018), up to the classes.
graph::TensorId unified_stages(graph::Builder& builder, const std::vector<graph::TensorId>& stages,
                               std::int64_t width);

}  // namespace foretrain::zoo
