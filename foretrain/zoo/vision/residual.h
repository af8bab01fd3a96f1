// SPDX-License-Identifier: Apache-2.0
// The stages of residual networks, for classifiers and for what is built upon them. Names are
// torchvision's: "layer1.0.conv1".
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "foretrain/graph/builder.h"
#include "foretrain/zoo/detail/layers.h"

namespace foretrain::zoo {

struct Residual {
  const char* name;
  bool bottleneck;
  std::array<int, 4> blocks;  // per stage
  int groups = 1;
  int width_per_group = 64;
  bool squeeze = false;  // squeeze-and-excitation to a sixteenth, as NVIDIA's SE-ResNeXt
};

// Of what other models are built upon: resnet18 to resnet152, resnext50_32x4d, ... Throws
// Error(NotFound) for other names.
const Residual& residual_named(const std::string& name);

using Norm = graph::TensorId (*)(graph::Builder&, const std::string&, graph::TensorId);

// A norm whose statistics, scale and offset stay as they are (torchvision's FrozenBatchNorm2d):
// seven kernels, all but two of them tiny; backward needs no activation.
graph::TensorId frozen_norm(graph::Builder& builder, const std::string& name, graph::TensorId x);
// The same as Caffe2's AffineChannel, in place or not.
graph::TensorId affine_channel(graph::Builder& builder, const std::string& name, graph::TensorId x);
graph::TensorId affine_channel_copy(graph::Builder& builder, const std::string& name,
                                    graph::TensorId x);

// How a stage differs from a classifier's.
struct StageForm {
  std::int64_t stride = 1;          // of the first block
  std::int64_t first_dilation = 1;  // of the first block's 3x3 convolution
  std::int64_t dilation = 1;        // of the others'
  Norm norm = batch_norm;
  Norm output_norm = nullptr;  // of a block's last convolution and its shortcut; null: the same
  bool stride_first = false;   // a bottleneck's stride is its first convolution's (He et al., 2016)
  bool sum_apart = false;      // the last block's sum is a tensor of its own
  std::string name{};          // in place of "layer" and the number
};

// Stage number `stage` from 0, of 64 * 2^stage planes.
graph::TensorId residual_stage(graph::Builder& builder, graph::TensorId x, const Residual& net,
                               int stage, const StageForm& form);

// 7x7 convolution of stride 2, norm, ReLU, pooling of stride 2.
graph::TensorId residual_stem(graph::Builder& builder, graph::TensorId x, Norm norm = batch_norm);

// What each stage gives of the stem's output. `output_stride` 8 or 16: dilation in place of the
// last strides (Chen et al., 2017). All else is as in `usual`.
std::vector<graph::TensorId> residual_features(graph::Builder& builder, graph::TensorId x,
                                               const Residual& net, int output_stride = 32,
                                               const StageForm& usual = {});

// Convolved to the block's shape where that differs (option B).
graph::TensorId projected(graph::Builder& builder, graph::TensorId x, std::int64_t out,
                          std::int64_t stride, Norm norm = batch_norm);

graph::TensorId add_and_relu(graph::Builder& builder, graph::TensorId x, graph::TensorId shortcut,
                             bool in_place = true);

}  // namespace foretrain::zoo
