// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "foretrain/cost/detail/conv.h"

namespace foretrain::cost {
namespace {

using graph::Attr;
using graph::Extent;
using graph::Kind;
using graph::NodeView;

enum class Pass { Forward, InputGrad, WeightGrad };

// A tensor of a node: the i-th input or output.
struct Place {
  bool output;
  int index;
};

// Which tensors of the node are the convolution's input x, output y and weight w. A transposed
// convolution is the input gradient of the plain one that leads from its output to its input.
struct Roles {
  Pass pass;
  Place x;
  Place y;
  Place w;
};

Roles roles_of(const NodeView& v) {
  const bool transposed = v.attr(Attr::Transposed, 0) != 0;
  Roles roles{};
  switch (v.node.kind) {
    case Kind::ConvInputGrad:
      roles = {Pass::InputGrad, {true, 0}, {false, 0}, {false, 1}};
      if (transposed) roles.pass = Pass::Forward;
      break;
    case Kind::ConvWeightGrad:
      roles = {Pass::WeightGrad, {false, 1}, {false, 0}, {true, 0}};
      break;
    default:
      roles = {Pass::Forward, {false, 0}, {true, 0}, {false, 1}};
      if (transposed) roles.pass = Pass::InputGrad;
      break;
  }
  if (transposed) std::swap(roles.x, roles.y);
  return roles;
}

const Extent& extent(const NodeView& v, Place p) {
  return p.output ? v.out(p.index) : v.in(p.index);
}
double bytes(const NodeView& v, Place p) {
  return p.output ? v.out_bytes(p.index) : v.in_bytes(p.index);
}
double further(const Extent& e) {
  double product = 1;
  for (int axis = 3; axis < e.rank; ++axis) product *= static_cast<double>(e[axis]);
  return product;
}

Conv conv_of(const NodeView& v, const Roles& roles) {
  const Extent& x = extent(v, roles.x);
  const Extent& y = extent(v, roles.y);
  const Extent& w = extent(v, roles.w);
  const bool backward = roles.pass == Pass::InputGrad;
  const Extent& result = backward ? x : y;
  Conv c;
  c.groups = static_cast<double>(v.attr(Attr::Groups, 1));
  c.batch = static_cast<double>(x[0]);
  c.in_channels = static_cast<double>(backward ? y[1] : x[1]);
  c.out_channels = static_cast<double>(backward ? x[1] : y[1]);
  c.out_height = static_cast<double>(result[2]);
  c.out_width = further(result);
  double strides = 1;
  bool plain = w.rank == 4 && c.groups == 1 && v.in_type(0) != DType::F64;  // cuDNN has none
  for (int axis = 2; axis < w.rank; ++axis) {
    const std::int64_t stride = v.node.attributes.at(Attr::Stride, axis - 2, 1);
    c.window *= static_cast<double>(w[axis]);
    strides *= static_cast<double>(stride);
    plain = plain && w[axis] == 3 && stride == 1 &&
            v.node.attributes.at(Attr::Dilation, axis - 2, 1) == 1;
  }
  c.winograd = plain;
  c.inner = c.window * c.in_channels / c.groups;
  if (backward) c.inner = std::max(1.0, c.inner / strides);
  c.depthwise = c.groups > 1 && static_cast<double>(x[1]) == c.groups;
  c.half_values = bytes_of(v.in_type(0)) <= 2;
  c.io_bytes = bytes(v, roles.x) + bytes(v, roles.y);
  c.weight_bytes = bytes(v, roles.w);
  return c;
}

// What MIOpen's kernels for AMD's graphics boards reach against cuDNN's. It has no Winograd in 16
// bits where there is no dot product of them; where there is, it has it for groups, too.
double rdna_share(const Conv& c, Pass pass, const Context& context) {
  const ConvConstants& k = context.model->constants.conv;
  const bool weight_grad = pass == Pass::WeightGrad;
  if (c.depthwise) return weight_grad ? k.rdna_depthwise_grad : k.rdna_depthwise;
  if (context.precision == Precision::Fp64) return 1;
  if (c.half_values && context.device->architecture == "rdna") {
    return pass == Pass::Forward ? k.rdna_no_dot : k.rdna_no_dot_grad;
  }
  if (c.groups > 1) return k.rdna_grouped;
  if (!weight_grad) return 1;
  return c.half_values ? k.rdna_weight_grad_half : k.rdna_weight_grad;
}

// A bias is added by a kernel of its own.
void add_bias(OpTime& time, const NodeView& v, const Context& context) {
  if (v.node.kind != Kind::Conv || v.inputs() < 3) return;
  const Seconds bias{context.model->constants.conv.bias * v.out_bytes(0) /
                         context.conv_bytes_per_s +
                     context.conv_launch_s};
  time.total += bias;
  time.memory += bias;
  time.kernels += 1;
}

}  // namespace

OpTime conv_time(const NodeView& v, const Context& context, ConvAlgorithm algorithm) {
  const Roles roles = roles_of(v);
  Conv c = conv_of(v, roles);
  if (context.generation == Generation::Rdna) c.share = rdna_share(c, roles.pass, context);
  const bool weight_grad = roles.pass == Pass::WeightGrad;
  const bool wide = v.in_type(0) == DType::F32 || v.in_type(0) == DType::F64;
  const bool tensor = context.tensor_conv_flops_per_s > 0 && (!wide || context.tf32_convolutions);
  OpTime time;
  if (c.depthwise) {
    time = conv_depthwise(c, weight_grad, context);
  } else {
    // TF32 is allowed, not required, and few kernels for groups know tensor cores: the library
    // takes one for vector units where it is faster. Those for 16-bit weight gradients read NCHW.
    const auto matrix = [&] {
      return weight_grad ? conv_weight_grad_tensor(c, context) : conv_tensor(c, context);
    };
    const auto vector = [&] {
      return weight_grad ? conv_weight_grad_vector(c, context) : conv_vector(c, algorithm, context);
    };
    time = tensor ? matrix() : vector();
    const bool last = weight_grad && !wide && context.framework->channels_last;
    if (tensor && !last && (wide || c.groups > 1)) {
      const OpTime other = vector();
      if (other.total < time.total) time = other;
    }
  }
  add_bias(time, v, context);
  return time;
}

}  // namespace foretrain::cost
