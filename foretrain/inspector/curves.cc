// SPDX-License-Identifier: Apache-2.0
#include "foretrain/inspector/curves.h"

#include <algorithm>

#include "foretrain/graph/kind.h"
#include "foretrain/inspector/detail/memory_levels.h"
#include "foretrain/operators/breakdown.h"

namespace foretrain::inspector {
namespace {

using operators::Stages;
using parallel::Traffic;

// As the lab measures: docs/models/resources.md.
constexpr Seconds kWindow{0.01};
constexpr Seconds kMemoryWindow{0.002};
constexpr Seconds kDeviceSmoothing{0.03};
constexpr Seconds kNetworkSmoothing{0.05};

resource::SplitOptions split_of(Resource resource, double link_bytes_per_s) {
  resource::SplitOptions split{.window = kWindow, .scale = 100};
  if (resource == Resource::Device) split.smoothing = split.shortest_run = kDeviceSmoothing;
  if (resource == Resource::Memory) split.window = kMemoryWindow;
  if (resource == Resource::Transmit || resource == Resource::Receive) {
    split.smoothing = split.shortest_run = kNetworkSmoothing;
    split.scale = link_bytes_per_s;
  }
  return split;
}

Curve& curve_of(StepCurves& curves, Resource resource) {
  return curves.of[static_cast<std::size_t>(resource)];
}

void add(StepCurves& curves, Resource resource, const sim::Span& span, double amount) {
  if (span.end <= span.start || amount <= 0) return;
  curve_of(curves, resource).levels.push_back({span.start, span.end, amount});
}

// Kernels keep the device busy.
void add_kernels(const Stages& stages, StepCurves& curves) {
  const operators::WorkerClass& worker = operators::slowest_class(stages);
  const std::vector<sim::Task>& tasks = stages.program.program.tasks;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (tasks[t].kind != operators::kKernelTask || tasks[t].resource != worker.stream) continue;
    add(curves, Resource::Device, stages.timeline.spans[t], 100);
  }
}

// A server computes while it updates parameters, and needs its CPU to receive and send; bytes of
// its updates are not counted node by node.
void add_server(const Stages& stages, const Resolved& resolved, StepCurves& curves) {
  const std::vector<sim::Task>& tasks = stages.program.program.tasks;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (tasks[t].kind != operators::kServerTask) continue;
    add(curves, Resource::Device, stages.timeline.spans[t], 100);
    add(curves, Resource::Memory, stages.timeline.spans[t], 100);
  }
  if (!hw::is_cpu(operators::slowest_device(stages, resolved))) return;
  const double servers = std::max(1, resolved.strategy.servers);
  const auto& costs = resolved.exchange->cpu;
  for (const operators::Transfer& transfer : stages.program.transfers) {
    const auto task = static_cast<std::size_t>(transfer.task);
    const sim::Span& span = stages.timeline.spans[task];
    const graph::Node& node = stages.step->graph.nodes[static_cast<std::size_t>(tasks[task].tag)];
    const double messages = node.kind == graph::Kind::Push
                                ? static_cast<double>(node.inputs.size()) * resolved.workers
                                : 0;
    const double needed = costs.server_message_s * messages / servers +
                          costs.server_received_byte_s * transfer.traffic.server_rx_bytes +
                          costs.server_sent_byte_s * transfer.traffic.server_tx_bytes;
    if (span.end > span.start) {
      add(curves, Resource::Device, span, 100 * needed / (span.end - span.start).count());
    }
  }
}

void add_transfers(const Stages& stages, Resource resource, double Traffic::*bytes,
                   StepCurves& curves) {
  for (const operators::Transfer& transfer : stages.program.transfers) {
    const sim::Span& span = stages.timeline.spans[static_cast<std::size_t>(transfer.task)];
    const double duration = (span.end - span.start).count();
    if (duration > 0) add(curves, resource, span, transfer.traffic.*bytes / duration);
  }
}

}  // namespace

StepCurves curves_of(const Stages& stages, const Resolved& resolved, Role role) {
  StepCurves curves;
  curves.period = stages.timeline.end;
  const hw::Cluster& cluster = resolved.cluster;
  const hw::Link& network = cluster.links[static_cast<std::size_t>(cluster.nodes.front().network)];
  for (const Resource resource : kResources) {
    curve_of(curves, resource).split = split_of(resource, hw::node_bytes_per_s(network));
  }
  const bool server = role == Role::Server;
  if (server) {
    add_server(stages, resolved, curves);
  } else {
    add_kernels(stages, curves);
    curve_of(curves, Resource::Memory).levels = memory_levels(stages, resolved);
  }
  add_transfers(stages, Resource::Transmit,
                server ? &Traffic::server_tx_bytes : &Traffic::worker_tx_bytes, curves);
  add_transfers(stages, Resource::Receive,
                server ? &Traffic::server_rx_bytes : &Traffic::worker_rx_bytes, curves);
  for (Curve& curve : curves.of) {
    std::stable_sort(curve.levels.begin(), curve.levels.end(),
                     [](const auto& a, const auto& b) { return a.start < b.start; });
  }
  return curves;
}

}  // namespace foretrain::inspector
