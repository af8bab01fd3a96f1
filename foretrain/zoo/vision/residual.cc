// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/vision/residual.h"

#include <algorithm>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::zoo {

using graph::Attr;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

namespace {

constexpr std::array kNets{
    Residual{"resnet18", false, {2, 2, 2, 2}},
    Residual{"resnet34", false, {3, 4, 6, 3}},
    Residual{"resnet50", true, {3, 4, 6, 3}},
    Residual{"resnet101", true, {3, 4, 23, 3}},
    Residual{"resnet152", true, {3, 8, 36, 3}},
    Residual{"resnext50_32x4d", true, {3, 4, 6, 3}, 32, 4},
    Residual{"resnext101_32x4d", true, {3, 4, 23, 3}, 32, 4},
    Residual{"resnext101_32x8d", true, {3, 4, 23, 3}, 32, 8},
    Residual{"resnext101_64x4d", true, {3, 4, 23, 3}, 64, 4},
    Residual{"se_resnext101_32x4d", true, {3, 4, 23, 3}, 32, 4, true},
    Residual{"wide_resnet50_2", true, {3, 4, 6, 3}, 1, 128},
    Residual{"wide_resnet101_2", true, {3, 4, 23, 3}, 1, 128},
};

// What a block asks of its convolutions.
struct Block {
  std::int64_t planes;
  std::int64_t stride;
  std::int64_t dilation;
  Norm norm;
  Norm output_norm;
  bool stride_first;
  bool sum_in_place;
};

TensorId conv_norm(Builder& b, const std::string& ending, TensorId x, const Conv& layer,
                   Norm norm) {
  return norm(b, "bn" + ending, conv(b, "conv" + ending, x, layer));
}

Conv three(std::int64_t channels, std::int64_t stride, std::int64_t dilation,
           std::int64_t groups = 1) {
  return {.channels = channels,
          .kernel = 3,
          .stride = stride,
          .padding = dilation,
          .groups = groups,
          .dilation = dilation};
}

TensorId basic_block(Builder& b, TensorId x, const Block& block) {
  const Conv first = three(block.planes, block.stride, block.dilation);
  TensorId y = relu(b, "relu", conv_norm(b, "1", x, first, block.norm));
  y = conv_norm(b, "2", y, three(block.planes, 1, 1), block.output_norm);
  const TensorId shortcut = projected(b, x, block.planes, block.stride, block.output_norm);
  return add_and_relu(b, y, shortcut, block.sum_in_place);
}

// Each channel times a number between 0 and 1 that its and the others' means give.
TensorId squeezed(Builder& b, TensorId x) {
  const Scope scope(b, "squeeze");
  const std::int64_t width = channels(b, x);
  TensorId scale = relu(b, "relu", linear(b, "squeeze", spatial_mean(b, x), width / 16));
  scale = b.add(Kind::Sigmoid, {linear(b, "expand", scale, width)});
  scale = b.add(Kind::Reshape, {scale}, {{Attr::Shape, {0, width, 1, 1}}});
  return b.add(Kind::Mul, {x, scale});
}

TensorId bottleneck(Builder& b, TensorId x, const Block& block, const Residual& net) {
  const std::int64_t width = block.planes * net.width_per_group / 64 * net.groups;
  const std::int64_t out = 4 * block.planes;
  const std::int64_t first_stride = block.stride_first ? block.stride : 1;
  const Conv first{.channels = width, .stride = first_stride};
  TensorId y = relu(b, "relu", conv_norm(b, "1", x, first, block.norm));
  const Conv middle = three(width, block.stride / first_stride, block.dilation, net.groups);
  y = relu(b, "relu", conv_norm(b, "2", y, middle, block.norm));
  y = conv_norm(b, "3", y, {.channels = out}, block.output_norm);
  const TensorId shortcut = projected(b, x, out, block.stride, block.output_norm);
  return add_and_relu(b, net.squeeze ? squeezed(b, y) : y, shortcut, block.sum_in_place);
}

}  // namespace

const Residual& residual_named(const std::string& name) {
  const auto found = std::find_if(kNets.begin(), kNets.end(),
                                  [&](const Residual& net) { return net.name == name; });
  if (found == kNets.end()) {
    throw Error(ErrorKind::NotFound, "no residual network '" + printable(name) + "'");
  }
  return *found;
}

TensorId frozen_norm(Builder& b, const std::string& name, TensorId x) {
  const Scope scope(b, name);
  const std::int64_t width = channels(b, x);
  const auto each = [&](const char* what) {
    return b.add(Kind::Reshape, {b.buffer(what, {width})}, {{Attr::Shape, {1, width, 1, 1}}});
  };
  const TensorId weight = each("weight");
  const TensorId bias = each("bias");
  const TensorId variance = each("running_var");
  const TensorId mean = each("running_mean");
  const TensorId inverse = b.add(Kind::Rsqrt, {b.add(Kind::Shift, {variance})});
  const TensorId scale = b.add(Kind::Mul, {weight, inverse});
  const TensorId offset = b.add(Kind::Sub, {bias, b.add(Kind::Mul, {mean, scale})});
  return b.add(Kind::Add, {b.add(Kind::Mul, {x, scale}), offset});
}

namespace {

TensorId affine(Builder& b, const std::string& name, TensorId x, bool in_place) {
  const Scope scope(b, name);
  const std::int64_t width = channels(b, x);
  const auto each = [&](const char* what) {
    return b.add(Kind::Reshape, {b.buffer(what, {width})}, {{Attr::Shape, {1, width, 1, 1}}});
  };
  x = b.add(Kind::Mul, {x, each("weight")}, {{Attr::Inplace, {in_place ? 1 : 0}}});
  return b.add(Kind::Add, {x, each("bias")}, {{Attr::Inplace, {1}}});
}

}  // namespace

TensorId affine_channel(Builder& b, const std::string& name, TensorId x) {
  return affine(b, name, x, true);
}

TensorId affine_channel_copy(Builder& b, const std::string& name, TensorId x) {
  return affine(b, name, x, false);
}

TensorId add_and_relu(Builder& b, TensorId x, TensorId shortcut, bool in_place) {
  return relu(b, "relu", b.add(Kind::Add, {x, shortcut}, {{Attr::Inplace, {in_place ? 1 : 0}}}));
}

TensorId projected(Builder& b, TensorId x, std::int64_t out, std::int64_t stride, Norm norm) {
  if (stride == 1 && channels(b, x) == out) return x;
  const Scope scope(b, "downsample");
  return norm(b, "1", conv(b, "0", x, {.channels = out, .stride = stride}));
}

TensorId residual_stage(Builder& b, TensorId x, const Residual& net, int stage,
                        const StageForm& form) {
  const Scope scope(b, form.name.empty() ? "layer" + std::to_string(stage + 1) : form.name);
  const Norm output_norm = form.output_norm != nullptr ? form.output_norm : form.norm;
  const int blocks = net.blocks[static_cast<std::size_t>(stage)];
  for (int i = 0; i < blocks; ++i) {
    const Scope inner(b, std::to_string(i));
    const Block block{.planes = std::int64_t{64} << stage,
                      .stride = i == 0 ? form.stride : 1,
                      .dilation = i == 0 ? form.first_dilation : form.dilation,
                      .norm = form.norm,
                      .output_norm = output_norm,
                      .stride_first = form.stride_first,
                      .sum_in_place = !form.sum_apart || i + 1 < blocks};
    x = net.bottleneck ? bottleneck(b, x, block, net) : basic_block(b, x, block);
  }
  return x;
}

TensorId residual_stem(Builder& b, TensorId x, Norm norm) {
  const Conv first{.channels = 64, .kernel = 7, .stride = 2, .padding = 3};
  x = relu(b, "relu", conv_norm(b, "1", x, first, norm));
  return max_pool(b, "maxpool", x, {.kernel = 3, .stride = 2, .padding = 1});
}

std::vector<TensorId> residual_features(Builder& b, TensorId x, const Residual& net,
                                        int output_stride, const StageForm& usual) {
  std::vector<TensorId> features;
  int reached = 4;
  std::int64_t dilation = 1;
  for (int stage = 0; stage < 4; ++stage) {
    StageForm form = usual;
    form.first_dilation = dilation;
    if (stage > 0 && reached < output_stride) {
      form.stride = 2;
      reached *= 2;
    } else if (stage > 0) {
      dilation *= 2;
    }
    form.dilation = dilation;
    x = residual_stage(b, x, net, stage, form);
    features.push_back(x);
  }
  return features;
}

}  // namespace foretrain::zoo
