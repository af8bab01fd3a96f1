// SPDX-License-Identifier: Apache-2.0
// Kernel launch overhead: what the host needs to issue an operator.
#include <array>

#include "foretrain/cost/detail/families.h"
#include "foretrain/cost/detail/update.h"

namespace foretrain::cost {
namespace {

using graph::Attr;
using graph::Family;
using graph::Kind;
using graph::NodeView;

constexpr double kMicro = 1e-6;

// Of a loop over time steps that a framework makes of recurrent layers: each step of each layer is
// a cell of so many operators; gradients also take back what forward has put aside.
constexpr double kCellOperators = 20;
constexpr double kCellGradOperators = 30;

double looped_us(const NodeView& v, const HostConstants& c) {
  const bool backward = v.node.kind == Kind::RecurrentGrad;
  const graph::Extent& in = v.in(backward ? 1 : 0);
  const auto steps = static_cast<double>(in[v.attr(Attr::BatchFirst, 0) != 0 ? 1 : 0]);
  const auto layers = static_cast<double>(v.attr(Attr::Layers, 1) * v.attr(Attr::Directions, 1));
  return steps * layers * (backward ? kCellGradOperators * c.other_grad : kCellOperators * c.other);
}

// Python issues these.
double forward_us(const NodeView& v, const HostConstants& c) {
  switch (v.node.kind) {
    case Kind::Conv:
      return c.conv;
    case Kind::BatchNorm:
      return c.batch_norm;
    case Kind::LayerNorm:
    case Kind::RmsNorm:
    case Kind::GroupNorm:
      return c.norm;
    case Kind::Linear:
      return c.linear;
    case Kind::MatMul:
      return c.matmul;
    case Kind::Attention:
      return c.attention;
    case Kind::Recurrent:
      return c.recurrent;
    case Kind::Embedding:
      return c.embedding;
    case Kind::Concat:
      return c.concat;
    case Kind::MaxPool:
    case Kind::AvgPool:
    case Kind::AdaptiveAvgPool:
      return c.pool;
    case Kind::Softmax:
    case Kind::LogSoftmax:
    case Kind::Dropout:
    case Kind::Gelu:
      return c.softmax;
    case Kind::CrossEntropy:
    case Kind::PointwiseLoss:
      return c.loss;
    case Kind::Cast:
      return c.cast;
    default:
      return c.other;
  }
}

// Autograd's C++ issues these.
double backward_us(const NodeView& v, const HostConstants& c) {
  switch (v.node.kind) {
    case Kind::ConvInputGrad:
    case Kind::ConvWeightGrad:
      return c.conv_grad;
    case Kind::NormGrad:
      return v.attr(Attr::Of, 0) == static_cast<std::int64_t>(Kind::BatchNorm) ? c.batch_norm_grad
                                                                               : c.norm_grad;
    case Kind::PointwiseGrad:
      return c.pointwise_grad;
    case Kind::Add:
      return adds_to_parameter(v) ? c.accumulate : c.branch;
    case Kind::MatMul:
      return c.matmul_grad;
    case Kind::AttentionGrad:
      return c.attention_grad;
    case Kind::RecurrentGrad:
      return c.recurrent_grad;
    case Kind::EmbeddingGrad:
      return c.embedding_grad;
    case Kind::LossGrad:
    case Kind::SoftmaxGrad:
      return c.loss_grad;
    case Kind::SumTo:
      return c.sum_grad;
    default:
      return c.other_grad;
  }
}

double view_us(const NodeView& v, const HostConstants& c) {
  return graph::is_forward(v.node) ? c.view : c.view_grad;
}

// Zeroing is mostly Python's walk over the parameters; an update's operators are issued one by one.
double update_us(const NodeView& v, const Framework& framework, const HostConstants& c) {
  const double launches = update_launches(v, framework);
  if (v.node.kind == Kind::ZeroGrad) return c.zero * launches;
  const double tensors = v.inputs() / 2.0;
  const double each = c.update_tensor + framework.host_per_tensor_s / kMicro;
  return c.update * launches + each * tensors + c.update_step + framework.host_per_step_s / kMicro;
}

}  // namespace

Seconds host_time(const NodeView& v, const Context& context) {
  const Framework& framework = *context.framework;
  const HostConstants& constants = context.model->constants.host;
  const Family family = graph::op(v.node).family;
  double us = 0;
  if (context.cpu) return Seconds{0};  // its operators' own time includes it
  const bool recurrent = v.node.kind == Kind::Recurrent || v.node.kind == Kind::RecurrentGrad;
  if (recurrent && framework.loops_recurrent) {
    us = looped_us(v, constants);
  } else if (family == Family::View) {
    us = view_us(v, constants);
  } else if (family == Family::Update) {
    us = update_us(v, framework, constants);
  } else {
    us = v.node.phase == graph::Phase::Backward ? backward_us(v, constants)
                                                : forward_us(v, constants);
    if (adds_to_parameter(v)) {
      us += framework.hook_s / kMicro + framework.statistics.hook.operators * constants.update;
    }
  }
  return Seconds{us * kMicro * framework.host_scale};
}

}  // namespace foretrain::cost
