// SPDX-License-Identifier: Apache-2.0
// Convolutions by the algorithms that cuDNN chooses from. Source: docs/models/convolutions.md.
#pragma once

#include "foretrain/cost/detail/families.h"

namespace foretrain::cost {

// A convolution, or its input gradient written as one (channels swapped, the input's pixels).
struct Conv {
  double batch = 1;
  double in_channels = 1;   // all groups
  double out_channels = 1;  // all groups
  double groups = 1;
  double out_height = 1;  // 1 for one spatial axis
  double out_width = 1;   // all further axes
  double window = 1;      // elements of the kernel, R^2
  double inner = 1;       // length of the sums: window * in_channels / groups, as strides allow
  double io_bytes = 0;    // input and output once
  double weight_bytes = 0;
  bool winograd = false;     // 3x3, stride 1, no dilation, two spatial axes, no groups
  bool depthwise = false;    // one input channel per group
  bool half_values = false;  // of 16 bits
  double share = 1;          // of the rate that cuDNN's kernels reach
};

// On vector units (fp32, fp64, and 16 bits where there are no tensor cores).
OpTime conv_vector(const Conv& conv, ConvAlgorithm algorithm, const Context& context);
OpTime conv_weight_grad_vector(const Conv& conv, const Context& context);

// On tensor cores (16 bits, TF32).
OpTime conv_tensor(const Conv& conv, const Context& context);
OpTime conv_weight_grad_tensor(const Conv& conv, const Context& context);

// Depthwise ones have kernels of their own, whose threads multiply one after another.
OpTime conv_depthwise(const Conv& conv, bool weight_grad, const Context& context);

}  // namespace foretrain::cost
