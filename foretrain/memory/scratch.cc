// SPDX-License-Identifier: Apache-2.0
#include "foretrain/memory/detail/scratch.h"

#include <cmath>

namespace foretrain::memory {
namespace {

using graph::Attr;
using graph::Kind;
using graph::NodeView;

bool is_half(DType type) { return type == DType::F16 || type == DType::BF16; }

// A 3x3 convolution of stride 1 over all channels, which Winograd's method can do.
bool suits_winograd(const NodeView& v, const graph::Extent& weight) {
  if (weight.rank != 4 || weight[2] != 3 || weight[3] != 3) return false;
  for (int axis = 0; axis < 2; ++axis) {
    if (v.node.attributes.at(Attr::Stride, axis, 1) != 1) return false;
    if (v.node.attributes.at(Attr::Dilation, axis, 1) != 1) return false;
  }
  return v.attr(Attr::Groups, 1) == 1 && v.attr(Attr::Transposed, 0) == 0;
}

// Values of the images' tiles of 4 x 4 pixels, each turned into 36, for every value of the images.
double winograd_growth(const graph::Extent& images) {
  double growth = 36;
  for (const int axis : {2, 3}) {
    const auto side = static_cast<double>(images[axis]);
    growth *= std::ceil(side / 4) / side;
  }
  return growth;
}

// Tensor cores want NHWC, so x, w and y are copied. In fp32 Winograd's F(4x4, 3x3) turns tiles
// of 16 values into 36 and each kernel of 9 into 36. Source: Lavin, Gray, CVPR 2016.
double convolution_scratch(const NodeView& v, const Options& options) {
  if (!options.search_workspace) return 0;
  const double all = v.in_bytes(0) + v.in_bytes(1) + v.out_bytes(0);
  const DType type = v.in_type(0);
  if (is_half(type) || (type == DType::F32 && options.tensor_core_fp32)) {
    return options.channels_last ? 0 : all;
  }
  const bool of_weight = v.node.kind == Kind::ConvWeightGrad;
  if (type != DType::F32 || !suits_winograd(v, of_weight ? v.out(0) : v.in(1))) return 0;
  const double transformed_in = winograd_growth(v.in(0)) * v.in_bytes(0);
  if (of_weight)
    return transformed_in + winograd_growth(v.in(1)) * v.in_bytes(1) + 4 * v.out_bytes(0);
  return transformed_in + winograd_growth(v.out(0)) * v.out_bytes(0) + 4 * v.in_bytes(1);
}

// Flash attention sums dq in fp32 and keeps one value per query row.
// Source: Dao, 2023; PyTorch, flash_api.cpp, mha_bwd.
double attention_grad_scratch(const NodeView& v) {
  return is_half(v.in_type(1)) ? 4 * v.in_count(1) + v.in_bytes(5) : 0;
}

}  // namespace

double scratch_bytes(const NodeView& v, const Options& options) {
  switch (v.node.kind) {
    case Kind::Conv:
    case Kind::ConvInputGrad:
    case Kind::ConvWeightGrad: {
      const double wanted = convolution_scratch(v, options);
      return wanted > options.most_workspace_bytes.value_or(wanted) ? 0 : wanted;
    }
    case Kind::AttentionGrad:
      return attention_grad_scratch(v);
    default:
      return 0;
  }
}

int update_temporaries(graph::Optimizer optimizer) {
  switch (optimizer) {
    case graph::Optimizer::Adam:     // the root of the second moment
    case graph::Optimizer::AdamW:    // likewise
    case graph::Optimizer::RmsProp:  // likewise
      return 1;
    case graph::Optimizer::Adagrad:  // the root of the sum, and the scaled gradient
      return 2;
    default:
      return 0;
  }
}

int update_temporaries_of_one(graph::Optimizer optimizer) {
  switch (optimizer) {
    case graph::Optimizer::Lion:  // the sign of the averaged gradient
      return 1;
    case graph::Optimizer::Adafactor:  // the squared gradient, then the update
      return 2;
    default:
      return 0;
  }
}

}  // namespace foretrain::memory
