// SPDX-License-Identifier: Apache-2.0
#include "foretrain/inspector/features.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "foretrain/graph/op.h"
#include "foretrain/graph/optimizer.h"
#include "foretrain/inspector/detail/families.h"
#include "foretrain/operators/breakdown.h"

namespace foretrain::inspector {
namespace {

using operators::Stages;

// Sums over the nodes of one phase.
struct PhaseCounts {
  double nodes = 0;
  double flops = 0;
  double vector_flops = 0;
  double bytes = 0;
};

struct Counts {
  std::array<PhaseCounts, 3> phase{};
  std::array<double, kFamilies.size()> family_bytes{};
  std::array<double, kFamilies.size()> family_flops{};
  std::array<double, kFamilies.size()> family_nodes{};
  double largest_bytes = 0;
};

Counts count(const Stages& stages) {
  Counts counts;
  for (const graph::Node& node : stages.step->graph.nodes) {
    if (graph::is_view(node) || graph::is_communication(node)) continue;
    const graph::Work work = graph::work({stages.bound, node});
    PhaseCounts& phase = counts.phase[static_cast<std::size_t>(node.phase)];
    const double bytes = work.read_bytes + work.written_bytes;
    phase.nodes += 1;
    phase.flops += work.flops;
    phase.vector_flops += work.vector_flops;
    phase.bytes += bytes;
    counts.largest_bytes = std::max(counts.largest_bytes, bytes);
    const std::size_t family = place_of(graph::op(node).family);
    if (family == kFamilies.size()) continue;
    counts.family_bytes[family] += bytes;
    counts.family_flops[family] += work.flops + work.vector_flops;
    counts.family_nodes[family] += 1;
  }
  return counts;
}

void add_graph(const Stages& stages, Features& features) {
  const Counts counts = count(stages);
  constexpr std::array kPhases{"forward", "backward", "update"};
  PhaseCounts all;
  for (std::size_t i = 0; i < kPhases.size(); ++i) {
    const PhaseCounts& one = counts.phase[i];
    features.add(std::string(kPhases[i]) + ".log_nodes", log_of(one.nodes));
    features.add(std::string(kPhases[i]) + ".log_bytes", log_of(one.bytes));
    all.nodes += one.nodes;
    all.flops += one.flops;
    all.vector_flops += one.vector_flops;
    all.bytes += one.bytes;
  }
  features.add("log_flops", log_of(all.flops));
  features.add("log_vector_flops", log_of(all.vector_flops));
  features.add("log_bytes", log_of(all.bytes));
  features.add("log_intensity", log_of(all.flops) - log_of(all.bytes));
  features.add("log_parameters", log_of(static_cast<double>(stages.step->parameters)));
  features.add("log_gradients", log_of(static_cast<double>(stages.step->gradients.size())));
  features.add("log_largest_bytes", log_of(counts.largest_bytes));
  features.add("log_bytes_per_node", log_of(all.bytes / std::max(1.0, all.nodes)));
  for (std::size_t i = 0; i < kFamilies.size(); ++i) {
    const std::string name = kFamilies[i].second;
    features.add(name + ".bytes", counts.family_bytes[i] / std::max(1.0, all.bytes));
    features.add(name + ".flops",
                 counts.family_flops[i] / std::max(1.0, all.flops + all.vector_flops));
    features.add(name + ".nodes", counts.family_nodes[i] / std::max(1.0, all.nodes));
  }
}

void add_setting(const Resolved& resolved, Features& features) {
  const hw::Cluster& cluster = resolved.cluster;
  const hw::Node& node = cluster.nodes.front();
  const hw::Device& device = cluster.devices[static_cast<std::size_t>(node.device)];
  const hw::Link& network = cluster.links[static_cast<std::size_t>(node.network)];
  const bool servers = resolved.strategy.kind == Parallel::ParameterServer;
  features.add("log_batch", log_of(static_cast<double>(resolved.batch)));
  features.add("workers", resolved.workers);
  features.add("servers", servers ? resolved.strategy.servers : 0);
  features.add("asynchronous", servers && resolved.strategy.asynchronous);
  features.add("log_network", log_of(hw::node_bytes_per_s(network)));
  features.add("log_device_flops", log_of(device.fp32_flops_per_s));
  features.add("log_device_bandwidth", log_of(device.memory_bytes_per_s));
  features.add("optimizer_states", graph::row_of(resolved.optimizer).states);
}

void add_prediction(const Stages& stages, Features& features) {
  const operators::WorkerClass& worker = operators::slowest_class(stages);
  const Breakdown parts = operators::break_down(stages);
  const Phases phases = operators::split_phases(stages);
  const double step = stages.timeline.end.count();
  features.add("log_step", log_of(step));
  features.add("compute", parts.compute.count() / step);
  features.add("memory", parts.memory.count() / step);
  features.add("exposed", parts.exposed_communication.count() / step);
  features.add("host", parts.host.count() / step);
  features.add("forward", phases.forward.count() / step);
  features.add("update", phases.update.count() / step);
  features.add("log_communication", log_of(operators::communication_time(stages).count()));
  double longest = 0;
  double kernels = 0;
  std::array<double, kFamilies.size()> of_family{};
  for (std::size_t i = 0; i < worker.ops.size(); ++i) {
    const double time = worker.ops[i].total.count();
    longest = std::max(longest, time);
    kernels += time;
    const std::size_t family = place_of(graph::op(stages.step->graph.nodes[i]).family);
    if (family < kFamilies.size()) of_family[family] += time;
  }
  features.add("log_longest", log_of(longest));
  features.add("log_kernels", log_of(kernels));
  for (std::size_t i = 0; i < kFamilies.size(); ++i) {
    features.add(std::string(kFamilies[i].second) + ".time",
                 of_family[i] / std::max(1e-9, kernels));
  }
}

void add_replay(const std::array<Replayed, kResources.size()>& replayed, Features& features) {
  for (std::size_t i = 0; i < kResources.size(); ++i) {
    const std::string name(name_of(kResources[i]));
    const Replayed& one = replayed[i];
    features.add(name + ".alternating", one.alternating);
    features.add(name + ".log_amount", log_of(one.amount));
    features.add(name + ".log_idle_amount", log_of(one.idle_amount));
    features.add(name + ".log_burst", log_of(one.burst_s));
    features.add(name + ".log_idle", log_of(one.idle_s));
    features.add(name + ".log_share", log_of(one.burst_share));
    features.add(name + ".log_mean", log_of(one.mean));
  }
}

}  // namespace

Features features_of(const Stages& stages, const Resolved& resolved, Role role,
                     const std::array<Replayed, kResources.size()>& replayed) {
  Features features;
  features.add("server", role == Role::Server);
  add_graph(stages, features);
  features.whole_job = features.values.size();
  add_setting(resolved, features);
  features.without_physics = features.values.size();
  add_prediction(stages, features);
  add_replay(replayed, features);
  return features;
}

std::string physics_feature(const resource::UseName& use) {
  using resource::Number;
  constexpr std::array<std::pair<Number, const char*>, 4> kNames{{
      {Number::BurstAmount, ".log_amount"},
      {Number::IdleAmount, ".log_idle_amount"},
      {Number::BurstTime, ".log_burst"},
      {Number::IdleTime, ".log_idle"},
  }};
  for (const auto& [number, name] : kNames) {
    if (number == use.number) return std::string(name_of(use.resource)) + name;
  }
  return std::string(name_of(use.resource)) + ".log_share";
}

}  // namespace foretrain::inspector
