// SPDX-License-Identifier: Apache-2.0
#include "foretrain/inspector/traffic.h"

#include <algorithm>

#include "foretrain/graph/op.h"

namespace foretrain::inspector {
namespace {

using graph::Kind;
using graph::Optimizer;

// Values that the operators of PyTorch's update read and write for each parameter, one operator
// after the other (torch.optim, single tensors, which is what it does on a CPU):
//   sgd       add                                                            3
//   momentum  multiply 2, add 3, add 3                                       8
//   adam      lerp 3, multiply 2, addcmul 4, sqrt 2, divide 2, add 2, addcdiv 4   19
//   adamw     multiply 2 more
double eager_values(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::Sgd:
      return 3;
    case Optimizer::Momentum:
      return 8;
    case Optimizer::Adam:
      return 19;
    case Optimizer::AdamW:
      return 21;
    default: {
      const graph::OptimizerRow& row = graph::row_of(optimizer);
      return row.reads + row.writes;
    }
  }
}

// What each time step moves beyond the graph's own count, in passes over the recurrent weights and
// over the gates of the batch.
struct StepPasses {
  double weights = 0;
  double gates = 0;
};

// Forward a product reads the weights; backward one reads them, one writes their gradient, and the
// sum over time steps reads two and writes one. An LSTM of PyTorch on a CPU is one operator of
// oneDNN, which keeps its weights. Gates: fitted to the bytes per step that the lab counted.
StepPasses step_passes(bool lstm, bool gradient) {
  if (lstm) return gradient ? StepPasses{0, 7} : StepPasses{0, 4};
  return gradient ? StepPasses{5, 19} : StepPasses{1, 9};
}

// Matrices of a recurrent node's weights lie in pairs: of the input, of the state.
double recurrent_bytes(const graph::Bound& bound, const graph::Node& node) {
  const bool lstm = node.attributes.number(graph::Attr::Gates, 4) == 4;
  const StepPasses passes = step_passes(lstm, node.kind == Kind::RecurrentGrad);
  const bool batch_first = node.attributes.number(graph::Attr::BatchFirst, 0) != 0;
  double weights = 0;
  double gates = 0;
  double steps = 0;
  double batch = 0;
  bool of_state = true;
  for (const graph::TensorId input : node.inputs) {
    const graph::Extent& extent = bound.extent(input);
    if (extent.rank == 3 && steps == 0) {
      steps = static_cast<double>(extent[batch_first ? 1 : 0]);
      batch = static_cast<double>(extent[batch_first ? 0 : 1]);
    }
    if (extent.rank != 2) continue;
    of_state = !of_state;
    if (!of_state) continue;
    weights += bound.bytes(input);
    gates += static_cast<double>(extent[0]);
  }
  constexpr double kBytes = 4;
  return steps * (passes.weights * weights + passes.gates * gates * batch * kBytes);
}

}  // namespace

double moved_bytes(const graph::Bound& bound, const graph::Node& node, Optimizer optimizer,
                   const hw::Device& device) {
  const graph::Work work = graph::work({bound, node});
  const double bytes = work.read_bytes + work.written_bytes;
  if (!hw::is_cpu(device)) return bytes;
  if (graph::op(node).family == graph::Family::Update) {
    const graph::OptimizerRow& row = graph::row_of(optimizer);
    return bytes * eager_values(optimizer) / std::max(1.0, row.reads + row.writes);
  }
  const bool recurrent = node.kind == Kind::Recurrent || node.kind == Kind::RecurrentGrad;
  return recurrent ? bytes + recurrent_bytes(bound, node) : bytes;
}

}  // namespace foretrain::inspector
