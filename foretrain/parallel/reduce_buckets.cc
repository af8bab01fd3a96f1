// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/detail/reduce_buckets.h"

#include <algorithm>

#include "foretrain/comm/all_reduce.h"
#include "foretrain/parallel/detail/insert.h"
#include "foretrain/parallel/detail/shards.h"
#include "foretrain/parallel/groups.h"

namespace foretrain::parallel {
namespace {

// Seconds in which a device turns so many bytes into others, on its memory: it reads and writes.
Seconds conversion_time(double bytes, const Resolved& resolved) {
  double slowest = resolved.cluster.devices.front().memory_bytes_per_s;
  for (const hw::Device& device : resolved.cluster.devices) {
    slowest = std::min(slowest, device.memory_bytes_per_s);
  }
  return Seconds{bytes / slowest};
}

// A bucket on its way: as it is, or compressed before and turned back after.
struct Sent {
  double bytes = 0;
  Seconds converting{0};
};

Sent sent_bucket(const graph::Bound& step, const graph::Node& node, const Resolved& resolved) {
  const double whole = bytes_of_node(step, node);
  if (!resolved.strategy.gradient_precision) return {whole, Seconds{0}};
  double bytes = 0;
  for (const graph::TensorId id : node.inputs) {
    const DType own = step.graph->tensor(id).type;
    bytes += step.bytes(id) * compressed_share(own, resolved);
  }
  if (bytes == whole) return {whole, Seconds{0}};
  return {bytes, 2 * conversion_time(whole + bytes, resolved)};
}

}  // namespace

double compressed_share(DType own, const Resolved& resolved) {
  const Parallel kind = resolved.strategy.kind;
  const bool compresses =
      kind == Parallel::Ddp || kind == Parallel::AllReduce || kind == Parallel::Horovod;
  if (!compresses || !resolved.strategy.gradient_precision || !is_floating(own)) return 1;
  const double asked = bytes_of(reduced_type(own, resolved));
  return std::min(1.0, asked / bytes_of(own));
}

ExchangePlan reduce_buckets(const graph::Bound& step, const Resolved& resolved) {
  ExchangePlan plan;
  plan.per_gradient = Seconds{resolved.exchange->cpu.ddp_gradient_s};
  plan.per_gradient_byte_s = resolved.exchange->cpu.ddp_byte_s;
  const RankGroups groups = rank_groups(graph::Among::All, resolved);
  const comm::Path& path = groups.path;
  std::string_view algorithm = "none";
  for (const graph::Node& node : step.graph->nodes) {
    if (node.kind != graph::Kind::AllReduce || !exchanges_parameters(node)) continue;
    const Sent sent = sent_bucket(step, node, resolved);
    const comm::AllReduce all_reduce = comm::all_reduce(sent.bytes, path);
    plan.exchanges.push_back({all_reduce.time + sent.converting, {}});
    algorithm = all_reduce.algorithm;
  }
  if (plan.exchanges.empty()) return plan;
  plan.assumptions.push_back("gradients are summed by " + std::string(algorithm) + " all-reduce");
  if (path.nodes == 1) return plan;
  const double ranks = algorithm == "hierarchical" ? path.nodes : path.ranks;
  const double sent = groups.groups_on_node * 2 * (ranks - 1) / ranks;
  const Traffic per_byte{sent, sent, 0, 0};
  std::size_t next = 0;
  for (const graph::Node& node : step.graph->nodes) {
    if (node.kind != graph::Kind::AllReduce || !exchanges_parameters(node)) continue;
    plan.exchanges[next++].traffic = scaled(per_byte, sent_bucket(step, node, resolved).bytes);
  }
  return plan;
}

}  // namespace foretrain::parallel
