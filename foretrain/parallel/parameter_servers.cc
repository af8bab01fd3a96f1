// SPDX-License-Identifier: Apache-2.0
// Parameter servers: workers pull the parameters, push each gradient, and the servers update.
#include <algorithm>

#include "foretrain/base/error.h"
#include "foretrain/comm/constants.h"
#include "foretrain/comm/parameter_server.h"
#include "foretrain/graph/op.h"
#include "foretrain/parallel/detail/insert.h"
#include "foretrain/parallel/detail/strategies.h"

namespace foretrain::parallel {
namespace {

std::vector<comm::PsHost> ps_hosts(const Resolved& resolved) {
  const Strategy& strategy = resolved.strategy;
  const hw::Cluster& cluster = resolved.cluster;
  std::vector<comm::PsHost> hosts;
  for (const hw::Node& node : cluster.nodes) {
    const hw::Link& network = cluster.links[static_cast<std::size_t>(node.network)];
    comm::Link link = comm::described(network, *resolved.collectives);
    link.bytes_per_s = hw::node_bytes_per_s(link);
    hosts.push_back({node.devices, 0, link});
  }
  if (strategy.server_placement.empty()) {
    for (int s = 0; s < strategy.servers; ++s)
      ++hosts[static_cast<std::size_t>(s) % hosts.size()].servers;
    return hosts;
  }
  if (strategy.server_placement.size() < hosts.size()) {
    throw Error(ErrorKind::BadInput,
                "server_placement has " + std::to_string(strategy.server_placement.size()) +
                    " entries, the workers use " + std::to_string(hosts.size()) + " nodes");
  }
  int sum = 0;
  const comm::Link network = hosts.front().network;
  hosts.resize(strategy.server_placement.size(), comm::PsHost{0, 0, network});
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    hosts[i].servers = strategy.server_placement[i];
    sum += hosts[i].servers;
  }
  if (sum != strategy.servers) {
    throw Error(ErrorKind::BadInput, "server_placement adds up to " + std::to_string(sum) +
                                         " servers, 'servers' says " +
                                         std::to_string(strategy.servers));
  }
  return hosts;
}

// The busiest host of each role.
Traffic role_traffic(const std::vector<comm::PsHost>& hosts, const comm::PsTraffic& traffic) {
  Traffic busiest;
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    const double in = traffic.host_in_bytes[h];
    const double out = traffic.host_out_bytes[h];
    if (hosts[h].workers > 0) {
      busiest.worker_rx_bytes = std::max(busiest.worker_rx_bytes, in);
      busiest.worker_tx_bytes = std::max(busiest.worker_tx_bytes, out);
    }
    if (hosts[h].servers > 0) {
      busiest.server_rx_bytes = std::max(busiest.server_rx_bytes, in);
      busiest.server_tx_bytes = std::max(busiest.server_tx_bytes, out);
    }
  }
  return busiest;
}

// What a server does with each byte of a gradient: it adds up what each host (or each worker) sends
// and updates its share in memory.
Seconds server_time(double bytes, const Resolved& resolved) {
  const auto senders = static_cast<double>(resolved.cluster.nodes.size());
  const double copies = resolved.strategy.asynchronous ? 1 : senders;
  const graph::OptimizerRow& row = graph::row_of(resolved.optimizer);
  return Seconds{(copies + row.reads + row.writes) * bytes / resolved.strategy.servers /
                 resolved.server_device.memory_bytes_per_s};
}

std::string describe(const Strategy& strategy) {
  return std::to_string(strategy.servers) + " parameter server" +
         (strategy.servers > 1 ? "s" : "") + ", " +
         (strategy.asynchronous ? "asynchronous" : "synchronous") +
         (strategy.server_placement.empty() ? ", round-robin over the nodes" : "");
}

}  // namespace

// Variable by variable.
void add_parameter_servers(graph::Graph& step, const Resolved&) {
  const std::vector<graph::Bucket> buckets = graph::make_buckets(step, {0, 0});
  if (buckets.empty()) return;
  std::vector<Insertion> insertions;
  std::vector<graph::TensorId> parameters;
  for (const auto& [parameter, gradient] : step.gradients) parameters.push_back(parameter);
  insertions.push_back(
      {communication(graph::Kind::Pull, std::move(parameters), graph::Waiting::Device), kFront});
  for (const graph::Bucket& bucket : buckets) {
    insertions.push_back({communication(graph::Kind::Push, bucket.gradients), bucket.ready});
    insertions.push_back(
        {communication(graph::Kind::ServerUpdate, bucket.gradients), bucket.ready});
  }
  insert(step, std::move(insertions));
}

ExchangePlan plan_parameter_servers(const graph::Bound& step, const Resolved& resolved) {
  ExchangePlan plan;
  plan.per_gradient = Seconds{resolved.exchange->cpu.server_gradient_s};
  const double bytes = bytes_of_kind(step, graph::Kind::Push);
  if (bytes == 0) return plan;
  const bool asynchronous = resolved.strategy.asynchronous;
  const comm::PsMode mode = asynchronous ? comm::PsMode::Asynchronous : comm::PsMode::Synchronous;
  const std::vector<comm::PsHost> hosts = ps_hosts(resolved);
  const Seconds all = comm::ps_exchange(bytes, hosts, mode);
  const Seconds own = asynchronous ? comm::ps_single_pull(bytes, hosts, 0) : all;
  if (asynchronous) plan.servers_busy = all;
  const Traffic pull = role_traffic(hosts, comm::ps_pull_traffic(bytes, hosts, mode));
  const Traffic per_byte =
      scaled(role_traffic(hosts, comm::ps_push_traffic(bytes, hosts, mode)), 1 / bytes);
  for (const graph::Node& node : step.graph->nodes) {
    if (node.kind == graph::Kind::Pull) plan.exchanges.push_back({own, pull});
    if (node.kind == graph::Kind::Push) {
      const double part = bytes_of_node(step, node);
      plan.exchanges.push_back({own * (part / bytes), scaled(per_byte, part)});
    }
    if (node.kind == graph::Kind::ServerUpdate) {
      plan.exchanges.push_back({server_time(bytes_of_node(step, node), resolved), {}});
    }
  }
  plan.assumptions.push_back(describe(resolved.strategy));
  return plan;
}

}  // namespace foretrain::parallel
