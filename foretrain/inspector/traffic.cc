// SPDX-License-Identifier: Apache-2.0
#include "foretrain/inspector/traffic.h"

#include <algorithm>
#include <map>
#include <optional>

#include "foretrain/graph/op.h"
#include "foretrain/inspector/detail/recurrent_traffic.h"

namespace foretrain::inspector {
namespace {

using graph::Kind;
using graph::Node;
using graph::NodeId;
using graph::Optimizer;
using graph::TensorId;

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

double bytes_of(const graph::Bound& bound, const std::vector<TensorId>& tensors) {
  double bytes = 0;
  for (const TensorId id : tensors) bytes += bound.bytes(id);
  return bytes;
}

// The operator whose gradient this is, or the operator itself.
Kind original(const Node& node) {
  return static_cast<Kind>(
      node.attributes.number(graph::Attr::Of, static_cast<std::int64_t>(node.kind)));
}

// Passes over the largest tensor where a framework runs other operators than the graph has.
//   dropout        draws 1, which takes nearly all the time, then divides 2 and multiplies 3
//   its gradient   multiplies 3
//   cross entropy  log-softmax 2, and the choice of values, which is counted as 1 but takes no time
//   its gradient   of the choice 2, of the log-softmax 3
struct Passes {
  double passes = 0;
  double at_end = 0;
  double at_speed = 0;
};

std::optional<Passes> known_passes(const Node& node) {
  const bool gradient = node.phase == graph::Phase::Backward;
  const Kind kind = original(node);
  if (kind == Kind::Dropout) return gradient ? Passes{3, 0, 0} : Passes{1, 0, 5};
  if (kind == Kind::CrossEntropy) return gradient ? Passes{5, 0, 0} : Passes{2, 1, 0};
  return std::nullopt;
}

class Counter {
 public:
  Counter(const graph::Bound& bound, Optimizer optimizer, const hw::Device& device)
      : bound_(bound), values_(update_values(optimizer, device)) {
    const std::vector<Node>& nodes = bound.graph->nodes;
    transposed_.assign(bound.graph->tensors.size(), false);
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      if (nodes[n].kind == Kind::Transpose) transposed_[at(nodes[n].outputs.front())] = true;
      if (nodes[n].kind == Kind::ConvInputGrad || nodes[n].kind == Kind::ConvWeightGrad) {
        convolution_.emplace(nodes[n].inputs.front(), static_cast<NodeId>(n));
      }
    }
  }

  Moved count(NodeId id) const {
    const Node& node = bound_.graph->nodes[at(id)];
    if (graph::is_communication(node)) return {.together = id};
    if (graph::is_view(node)) return {.bytes = copied_by_view(node), .together = id};
    if (node.kind == Kind::Update) return {.bytes = updated(node), .together = id};
    if (const auto passes = known_passes(node)) {
      const double largest = largest_of(node);
      return {passes->passes * largest, passes->at_end * largest, passes->at_speed * largest, id};
    }
    if (node.kind == Kind::Recurrent || node.kind == Kind::RecurrentGrad) {
      double bytes = 0;
      for (const RecurrentPart& part : recurrent_parts(bound_, node)) {
        bytes += part.bytes + part.pointwise_bytes;
      }
      return {.bytes = bytes, .together = id};
    }
    const double bytes = bytes_of(bound_, node.inputs) + bytes_of(bound_, node.outputs);
    if (node.kind == Kind::MatMul) return {.bytes = bytes + made_contiguous(node), .together = id};
    return with_convolution(node, {.bytes = bytes, .together = id});
  }

 private:
  double largest_of(const Node& node) const {
    double largest = 0;
    for (const TensorId id : node.inputs) largest = std::max(largest, bound_.bytes(id));
    return largest;
  }

  double updated(const Node& node) const {
    double parameters = 0;
    for (std::size_t i = 0; i < node.inputs.size() / 2; ++i) {
      parameters += bound_.bytes(node.inputs[i]);
    }
    return values_ * parameters;
  }

  // A reshape of what was transposed is a copy.
  double copied_by_view(const Node& node) const {
    const TensorId input = node.inputs.front();
    return node.kind == Kind::Reshape && transposed_[at(input)] ? 2 * bound_.bytes(input) : 0;
  }

  // A batched GEMM wants its operands in order.
  double made_contiguous(const Node& node) const {
    double bytes = 0;
    for (const TensorId id : node.inputs) {
      if (transposed_[at(id)]) bytes += 2 * bound_.bytes(id);
    }
    return bytes;
  }

  // The gradients of a convolution are one operator: what comes back is read once.
  Moved with_convolution(const Node& node, Moved moved) const {
    const bool part = node.kind == Kind::ConvInputGrad || node.kind == Kind::ConvWeightGrad ||
                      node.kind == Kind::SumTo;
    const auto found = part ? convolution_.find(node.inputs.front()) : convolution_.end();
    if (found == convolution_.end()) return moved;
    if (found->second != moved.together) moved.bytes -= bound_.bytes(node.inputs.front());
    moved.together = found->second;
    return moved;
  }

  const graph::Bound& bound_;
  double values_;
  std::vector<bool> transposed_;            // by tensor
  std::map<TensorId, NodeId> convolution_;  // by what comes back: the first node of its gradients
};

}  // namespace

// Values that the operators of PyTorch's update read and write for each parameter, one operator
// after the other (torch.optim, single tensors, which is what it does on a CPU):
//   sgd       add                                                            3
//   momentum  multiply 2, add 3, add 3                                       8
//   adam      lerp 3, multiply 2, addcmul 4, sqrt 2, divide 2, add 2, addcdiv 4   19
//   adamw     multiply 2 more
double update_values(Optimizer optimizer, const hw::Device& device) {
  const graph::OptimizerRow& row = graph::row_of(optimizer);
  if (!hw::is_cpu(device)) return row.reads + row.writes;
  switch (optimizer) {
    case Optimizer::Sgd:
      return 3;
    case Optimizer::Momentum:
      return 8;
    case Optimizer::Adam:
      return 19;
    case Optimizer::AdamW:
      return 21;
    default:
      return row.reads + row.writes;
  }
}

std::vector<Moved> moved_bytes(const graph::Bound& bound, Optimizer optimizer,
                               const hw::Device& device) {
  std::vector<Moved> moved;
  const std::vector<Node>& nodes = bound.graph->nodes;
  moved.reserve(nodes.size());
  const Counter counter(bound, optimizer, device);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const auto id = static_cast<NodeId>(n);
    if (hw::is_cpu(device)) {
      moved.push_back(counter.count(id));
      continue;
    }
    const bool exchange = graph::is_communication(nodes[n]);
    const graph::Work work = exchange ? graph::Work{} : graph::work({bound, nodes[n]});
    moved.push_back({.bytes = work.read_bytes + work.written_bytes, .together = id});
  }
  return moved;
}

}  // namespace foretrain::inspector
