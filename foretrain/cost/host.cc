// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "foretrain/cost/op_time.h"
#include "foretrain/cost/update.h"

namespace foretrain::cost {
namespace {

using graph::Attr;
using graph::Family;
using graph::Kind;
using graph::NodeView;

constexpr double kMicro = 1e-6;

// Host time to issue an operator from Python, eager PyTorch 1.x-2.x, in microseconds.
// Convolution, batch norm, ReLU, add, concat, pool, linear, zero_grad and their gradients:
// fitted on torchvision's CNN steps at batch 12 (four machines, factor 0.55 to 1.12 between
// them). The others are interpolated: one kernel through one Python module about 18, through a
// functional call about 12, a module with parameters about 40.
double forward_us(const NodeView& v) {
  switch (v.node.kind) {
    case Kind::Conv:
      return 53;
    case Kind::BatchNorm:
      return 44;
    case Kind::LayerNorm:
    case Kind::RmsNorm:
    case Kind::GroupNorm:
      return 35;
    case Kind::Linear:
      return 44;
    case Kind::MatMul:
      return 30;
    case Kind::Attention:
      return 60;
    case Kind::Recurrent:
      return 150;
    case Kind::Embedding:
      return 30;
    case Kind::Concat:
      return 27;
    case Kind::MaxPool:
    case Kind::AvgPool:
    case Kind::AdaptiveAvgPool:
      return 22;
    case Kind::Softmax:
    case Kind::LogSoftmax:
    case Kind::Dropout:
    case Kind::Gelu:
      return 20;
    case Kind::CrossEntropy:
    case Kind::PointwiseLoss:
      return 60;
    case Kind::Cast:
      return 12;
    default:
      return 18;
  }
}

// Autograd's C++ issues these.
double backward_us(const NodeView& v) {
  switch (v.node.kind) {
    case Kind::ConvInputGrad:
    case Kind::ConvWeightGrad:
      return 57;
    case Kind::NormGrad:
      return v.attr(Attr::Of, 0) == static_cast<std::int64_t>(Kind::BatchNorm) ? 71 : 50;
    case Kind::PointwiseGrad:
      return 23;
    case Kind::Add:  // into a parameter's gradient, or of two branches
      return v.node.label.empty() ? 12 : 22;
    case Kind::MatMul:
      return 30;
    case Kind::AttentionGrad:
      return 70;
    case Kind::RecurrentGrad:
      return 250;
    case Kind::EmbeddingGrad:
      return 80;
    case Kind::LossGrad:
    case Kind::SoftmaxGrad:
      return 30;
    case Kind::SumTo:
      return 20;
    default:
      return 22;
  }
}

double view_us(const NodeView& v) { return v.node.phase == graph::Phase::Forward ? 4 : 3; }

// Per launch: zeroing 35, of which most is Python's walk over the parameters; an update's
// operators are issued one by one.
double update_us(const NodeView& v, const Framework& framework) {
  if (v.node.kind == Kind::ZeroGrad) return 35 * update_launches(v, framework);
  constexpr double kOperator = 12;  // per launch
  constexpr double kTensor = 2;     // per parameter: collecting it
  constexpr double kStep = 100;     // per step
  const double tensors = v.inputs() / 2.0;
  const double each = kTensor + framework.host_per_tensor_s / kMicro;
  return kOperator * update_launches(v, framework) + each * tensors + kStep;
}

}  // namespace

Seconds host_time(const NodeView& v, const Context& context) {
  const Framework& framework = *context.framework;
  const Family family = graph::op(v.node).family;
  double us = 0;
  if (context.cpu) return Seconds{0};  // its operators' own time includes it
  if (family == Family::View) {
    us = view_us(v);
  } else if (family == Family::Update) {
    us = update_us(v, framework);
  } else {
    us = v.node.phase == graph::Phase::Backward ? backward_us(v) : forward_us(v);
  }
  return Seconds{us * kMicro * framework.host_scale};
}

}  // namespace foretrain::cost
