// SPDX-License-Identifier: Apache-2.0
#include "foretrain/operators/detail/pass_times.h"

#include <algorithm>

#include "foretrain/graph/op.h"
#include "foretrain/operators/breakdown.h"

namespace foretrain::operators {
namespace {

using graph::NodeId;
using graph::Phase;

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

bool sends(const graph::Node& node, Phase phase) {
  return node.kind == graph::Kind::Send && node.phase == phase;
}

bool in_backward(const graph::Node& node) {
  return node.phase == Phase::Backward || node.phase == Phase::Recompute;
}

// Nodes up to `last` of the lowered pass `pass` end so late, on the slowest worker.
class Kernels {
 public:
  explicit Kernels(const Stages& alone) : alone_(alone) {
    const sim::ResourceId stream = slowest_class(alone).stream;
    const std::vector<sim::Task>& tasks = alone.program.program.tasks;
    std::int32_t previous = -1;
    int pass = 0;
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      if (tasks[t].kind != kKernelTask || tasks[t].resource != stream) continue;
      if (tasks[t].tag < previous) ++pass;
      previous = tasks[t].tag;
      kernels_.push_back({pass, previous, alone.timeline.spans[t]});
    }
  }

  // When the last kernel before node `node` of a pass has ended; `otherwise`: there is none.
  Seconds end_before(int pass, NodeId node, Seconds otherwise) const {
    Seconds end = otherwise;
    for (const Kernel& kernel : kernels_) {
      if (kernel.pass > pass || (kernel.pass == pass && kernel.node >= node)) break;
      end = std::max(end, kernel.span.end);
    }
    return end;
  }

  // When the first kernel from node `node` on of a pass starts; `otherwise`: there is none.
  Seconds start_from(int pass, NodeId node, Seconds otherwise) const {
    for (const Kernel& kernel : kernels_) {
      if (kernel.pass == pass && kernel.node >= node) return kernel.span.start;
    }
    return otherwise;
  }

  // Time between two moments in which kernels touch memory.
  Seconds touching(Seconds from, Seconds to) const {
    const std::vector<cost::OpTime>& ops = slowest_class(alone_).ops;
    Seconds sum{0};
    for (const Kernel& kernel : kernels_) {
      if (kernel.span.start < from || kernel.span.end > to) continue;
      const cost::OpTime& op = ops[at(kernel.node)];
      const double share = op.total > Seconds{0} ? std::min(1.0, op.memory / op.total) : 0;
      sum += share * (kernel.span.end - kernel.span.start);
    }
    return sum;
  }

 private:
  struct Kernel {
    int pass;
    NodeId node;
    sim::Span span;
  };

  const Stages& alone_;
  std::vector<Kernel> kernels_;
};

class Timing {
 public:
  Timing(const Stages& alone, int parts)
      : alone_(alone),
        nodes_(pass_nodes(alone.step->graph, parts)),
        parts_(parts),
        kernels_(alone) {}

  StagePasses run(bool several) {
    StagePasses stage;
    stage.start = until(PassKind::Start, 0, kernels_.end_before(0, nodes_.forward.front(), now_));
    if (several) stage.each = micro_batch(0);
    const int last = several ? 1 : 0;
    stage.last = micro_batch(last);
    if (!several) stage.each = stage.last;
    const Seconds end = alone_.timeline.end;
    stage.exchange = until(PassKind::Exchange, 0, kernels_.start_from(last, nodes_.update, end));
    stage.update = until(PassKind::Update, 0, end);
    add_sent(stage);
    return stage;
  }

 private:
  MicroBatchPasses micro_batch(int pass) {
    MicroBatchPasses passes;
    for (int part = 0; part < parts_; ++part) {
      const NodeId end = nodes_.forward[at(part) + 1];
      passes.forward.push_back(
          until(PassKind::Forward, part, kernels_.end_before(pass, end, now_)));
    }
    passes.backward.resize(at(parts_));
    for (int k = 0; k < parts_; ++k) {
      const NodeId end = nodes_.backward[at(k) + 1];
      const int part = parts_ - 1 - k;
      passes.backward[at(part)] =
          until(PassKind::Backward, part, kernels_.end_before(pass, end, now_));
    }
    return passes;
  }

  // What happens from now to then.
  Pass until(PassKind kind, int part, Seconds then) {
    Pass pass;
    pass.kind = kind;
    pass.part = part;
    pass.time = then - now_;
    if (then > now_) {
      pass.parts = break_down_between(alone_, now_, then);
      pass.touching = kernels_.touching(now_, then);
    }
    for (const Transfer& transfer : alone_.program.transfers) {
      const sim::Span& span = alone_.timeline.spans[at(transfer.task)];
      const Seconds middle = (span.start + span.end) / 2;
      if (middle < now_ || (middle >= then && kind != PassKind::Update)) continue;
      pass.communication += span.end - span.start;
      pass.traffic.worker_tx_bytes += transfer.traffic.worker_tx_bytes;
      pass.traffic.worker_rx_bytes += transfer.traffic.worker_rx_bytes;
    }
    now_ = then;
    return pass;
  }

  void add_sent(StagePasses& stage) const {
    const graph::Graph& step = alone_.step->graph;
    stage.sent_forward_bytes.assign(at(parts_), 0);
    stage.sent_backward_bytes.assign(at(parts_), 0);
    for (std::size_t n = 0; n < step.nodes.size(); ++n) {
      const graph::Node& node = step.nodes[n];
      const bool forward = sends(node, Phase::Forward);
      if (!forward && !sends(node, Phase::Backward)) continue;
      double bytes = 0;
      for (const graph::TensorId id : node.inputs) bytes += alone_.bound.bytes(id);
      const std::vector<NodeId>& begins = forward ? nodes_.forward : nodes_.backward;
      const auto behind =
          std::upper_bound(begins.begin(), begins.end() - 1, static_cast<NodeId>(n));
      const auto place = static_cast<std::size_t>(behind - begins.begin()) - 1;
      if (forward) {
        stage.sent_forward_bytes[place] += bytes;
      } else {
        stage.sent_backward_bytes[at(parts_) - 1 - place] += bytes;
      }
    }
  }

  const Stages& alone_;
  PassNodes nodes_;
  int parts_;
  Kernels kernels_;
  Seconds now_{0};
};

}  // namespace

// A part's forward pass ends where it sends, its backward pass begins where it receives; the last
// part does neither. Where nothing before a part is trained, its backward pass is empty.
PassNodes pass_nodes(const graph::Graph& step, int parts) {
  NodeId first = 0;
  NodeId forward_end = 0;
  NodeId backward_end = 0;
  const auto count = static_cast<NodeId>(step.nodes.size());
  PassNodes nodes;
  nodes.update = count;
  for (NodeId n = count; n-- > 0;) {
    const graph::Node& node = step.nodes[at(n)];
    if (node.phase == Phase::Forward) first = n;
    if (node.phase == Phase::Forward && forward_end == 0) forward_end = n + 1;
    if (in_backward(node) && backward_end == 0) backward_end = n + 1;
    if (node.kind == graph::Kind::Update) nodes.update = n;
  }
  backward_end = std::max(forward_end, backward_end);
  nodes.forward = {first};
  for (NodeId n = first; n < forward_end; ++n) {
    if (sends(step.nodes[at(n)], Phase::Forward)) nodes.forward.push_back(n + 1);
  }
  nodes.forward.resize(at(parts) + 1, forward_end);
  nodes.forward.back() = forward_end;
  nodes.backward = {forward_end};
  for (NodeId n = forward_end; n < backward_end; ++n) {
    const graph::Node& node = step.nodes[at(n)];
    if (node.kind != graph::Kind::Receive || node.phase != Phase::Backward) continue;
    const auto begin = step.nodes.begin();
    if (std::any_of(begin + nodes.backward.back(), begin + n, in_backward)) {
      nodes.backward.push_back(n);
    }
  }
  nodes.backward.resize(at(parts) + 1, backward_end);
  nodes.backward.back() = backward_end;
  return nodes;
}

StagePasses time_passes(const Stages& alone, int parts, std::int64_t passes) {
  return Timing(alone, parts).run(passes > 1);
}

Seconds busy_time(const StagePasses& stage, std::int64_t micro_batches) {
  Seconds sum = stage.start.time + stage.exchange.time + stage.update.time;
  const auto earlier = static_cast<double>(micro_batches - 1);
  for (std::size_t k = 0; k < stage.each.forward.size(); ++k) {
    sum += earlier * (stage.each.forward[k].time + stage.each.backward[k].time);
    sum += stage.last.forward[k].time + stage.last.backward[k].time;
  }
  return sum;
}

}  // namespace foretrain::operators
