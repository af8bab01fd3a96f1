// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/detail/update.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "foretrain/cost/detail/families.h"
#include "foretrain/graph/optimizer.h"

namespace foretrain::cost {
namespace {

using graph::Attr;
using graph::Kind;
using graph::NodeView;

// What an optimizer does one element-wise operator at a time: values read and written per
// parameter, and operators. Counted from PyTorch's torch/optim (foreach and single-tensor
// forms move the same bytes); LAMB and LARS from their common implementations.
struct Steps {
  double passes;
  double operators;
};
constexpr std::array<Steps, 14> kSteps{{
    {3, 1},    // sgd: p += -lr g
    {8, 3},    // momentum: b *= m; b += g; p += -lr b
    {19, 7},   // adam: lerp 3, mul 2, addcmul 4, sqrt 2, div 2, add 2, addcdiv 4
    {21, 8},   // adamw: weight decay 2 more
    {30, 13},  // lamb: adam's, decay, two norms, ratio
    {12, 4},   // adagrad: addcmul 4, sqrt 2, add 2, addcdiv 4
    {14, 5},   // rmsprop: mul 2, addcmul 4, sqrt 2, add 2, addcdiv 4
    {13, 6},   // lars: two norms, scale, momentum
    {7, 1},    // adam-8bit: one kernel of bitsandbytes
    {7, 1},    // adamw-8bit: likewise
    {19, 8},   // lion: decay 2, clone 2, mul 2, add 3, sign 2, add 3, mul 2, add 3
    {20, 12},  // adafactor: pow 2, add 2, two means, product 1, mul 3, norm 1, div, mul, decay, add
    {7, 1},    // paged-adamw: one kernel of bitsandbytes; pages are taken as there already
    {7, 1},    // paged-adamw-8bit: likewise
}};

const Steps& steps_of(const NodeView& v) {
  return kSteps[static_cast<std::size_t>(v.attr(Attr::Optimizer, 0)) % kSteps.size()];
}

}  // namespace

double update_launches(const NodeView& v, const Framework& framework) {
  const double per_launch = std::max(1.0, framework.update_tensors_per_launch);
  if (v.node.kind == Kind::ZeroGrad) return std::ceil(v.inputs() / per_launch);
  const double tensors = v.inputs() / 2.0;
  const double operators = framework.fused_update ? 1 : steps_of(v).operators;
  return operators * std::ceil(tensors / per_launch) +
         framework.statistics.after.operators * tensors;
}

bool adds_to_parameter(const NodeView& v) {
  return v.node.phase == graph::Phase::Backward && v.node.kind == Kind::Add &&
         !v.node.label.empty();
}

double update_bytes(const NodeView& v, const graph::Work& work, const Framework& framework) {
  const double bytes = work.read_bytes + work.written_bytes;
  if (v.node.kind != Kind::Update) return bytes;
  const auto optimizer = static_cast<graph::Optimizer>(v.attr(Attr::Optimizer, 0));
  const graph::OptimizerRow& row = graph::row_of(optimizer);
  const double value = bytes / (row.reads + row.writes);  // of each parameter, once
  const double own = framework.fused_update ? bytes : steps_of(v).passes * value;
  return own * framework.update_passes + framework.statistics.after.values * value;
}

OpTime update_time(const NodeView& v, const graph::Work& work, const Context& context) {
  const double launches = update_launches(v, *context.framework);
  OpTime time;
  time.kernels = static_cast<int>(launches);
  time.memory = Seconds{update_bytes(v, work, *context.framework) / context.memory_bytes_per_s};
  time.compute = Seconds{work.vector_flops / context.vector_flops_per_s};
  time.total = std::max(time.memory, time.compute) + Seconds{launches * context.conv_launch_s};
  return time;
}

int launch_parts(const graph::Node& node, int kernels, const Framework& framework) {
  constexpr int kMost = 8;
  if (node.kind != Kind::Update || framework.waits_for_device) return 1;
  return std::clamp(kernels, 1, kMost);
}

}  // namespace foretrain::cost
