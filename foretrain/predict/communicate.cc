// SPDX-License-Identifier: Apache-2.0
#include "foretrain/predict/communicate.h"

#include <algorithm>
#include <limits>

#include "foretrain/base/error.h"
#include "foretrain/comm/all_reduce.h"
#include "foretrain/comm/parameter_server.h"
#include "foretrain/comm/path.h"

namespace foretrain {
namespace {

// PyTorch's DistributedDataParallel: a first bucket of 1 MiB so that communication starts
// early, then 25 MiB. Source: its documentation, bucket_cap_mb.
constexpr double kDdpFirstBucketBytes = 1024 * 1024;
constexpr double kDdpBucketBytes = 25 * 1024 * 1024;
// It copies each gradient into its bucket and the sum back. Source: its reducer, with
// gradient_as_bucket_view=False (the default). AdaptDL's own counts hold them.
constexpr double kDdpCopies = 2;
// Horovod's tensor fusion, and the cycles in which each rank says what it has ready. Source: its
// documentation, HOROVOD_FUSION_THRESHOLD and HOROVOD_CYCLE_TIME, before version 0.21.
constexpr double kHorovodBucketBytes = 64 * 1024 * 1024;
constexpr Seconds kHorovodCycle{5e-3};
// nn.DataParallel handles every parameter tensor of every device on its own, from threads that
// share one interpreter. Source: fit on 1 to 4 GPUs of torchvision_gpus data, docs/models.md.
constexpr Seconds kReplicateTensor{90e-6};
// Share of the bus rate that its copies reach without peer access (8-15 GB/s on PCIe, likewise).
constexpr double kCopyThroughHost = 0.7;

// Where a CPU computes, the threads that exchange gradients take its time: hooks, copies to and
// from buckets or sockets, and sums. Source: tools/lab_costs.py on the first runs of
// data/lab/measured (train split).
constexpr Seconds kCpuDdpGradient{70e-6};
constexpr double kCpuDdpByte_s = 0.31e-9;
constexpr Seconds kCpuServerGradient{170e-6};

double total_bytes(const std::vector<Bucket>& buckets) {
  double bytes = 0;
  for (const Bucket& bucket : buckets) bytes += bucket.bytes;
  return bytes;
}

// From the last gradient to the cycle in which all ranks have said that it is there: the largest of
// p phases that are equally likely, cycle p / (p + 1). Earlier buckets wait behind backward.
Seconds horovod_wait(int ranks) { return kHorovodCycle * ranks / (ranks + 1); }

void plan_all_reduce(const Step& step, const graph::Bound& bound, const Setting& setting,
                     const Request& request, Communication& plan) {
  constexpr double kAll = std::numeric_limits<double>::infinity();
  const Parallel kind = request.strategy.kind;
  const bool ddp = kind == Parallel::Ddp;
  const bool together = kind == Parallel::AllReduce || setting.framework->gradients_together;
  const double bytes = together ? kAll : ddp ? kDdpBucketBytes : kHorovodBucketBytes;
  plan.buckets = make_buckets(step, bound, ddp && !together ? kDdpFirstBucketBytes : bytes, bytes);
  const comm::Path path = comm::path_over(setting.cluster);
  std::string_view algorithm = "none";
  for (const Bucket& bucket : plan.buckets) {
    const comm::AllReduce all_reduce = comm::all_reduce(bucket.bytes, path);
    plan.bucket_times.push_back(all_reduce.time);
    algorithm = all_reduce.algorithm;
  }
  if (kind == Parallel::Horovod && !plan.buckets.empty()) {
    plan.bucket_times.back() += horovod_wait(path.ranks);
  }
  if (path.nodes > 1) {
    const double ranks = algorithm == "hierarchical" ? path.nodes : path.ranks;
    plan.per_byte.worker_tx_bytes = plan.per_byte.worker_rx_bytes = 2 * (ranks - 1) / ranks;
  }
  if (ddp && setting.framework->statistics.hook.operators == 0) plan.gradient_copies = kDdpCopies;
  if (!plan.buckets.empty()) {
    plan.assumptions.push_back("gradients are summed by " + std::string(algorithm) + " all-reduce");
  }
}

// T_n = T_1 + 90 us n p + 2 bytes / rate for p tensors on n devices: half before the forward pass
// (parameters go out), half after backward (gradients come in). Each of both is one pipeline over
// all devices (NCCL's broadcast and reduce), so the bytes do not count once per device.
void plan_data_parallel(const Step& step, const graph::Bound& bound, const Setting& setting,
                        Communication& plan) {
  const comm::Path path = comm::path_over(setting.cluster);
  if (path.nodes > 1) {
    throw Error(ErrorKind::Unsupported,
                "strategy dataparallel runs in one process on one node; use ddp for several nodes");
  }
  plan.buckets = make_buckets(step, bound, std::numeric_limits<double>::infinity(), 0);
  const double bytes = total_bytes(plan.buckets);
  const auto tensors = static_cast<double>(step.gradients.size());
  const hw::Link& bus =
      setting.cluster.links[static_cast<std::size_t>(setting.cluster.nodes.front().intra_node)];
  const double rate =
      bus.peer_access ? path.inside.bytes_per_s : kCopyThroughHost * bus.bytes_per_s;
  const Seconds half = setting.workers * tensors / 2 * kReplicateTensor + Seconds{bytes / rate};
  plan.entry = half;
  plan.host_enters = true;
  plan.bucket_times.assign(plan.buckets.size(), half);
}

std::vector<comm::PsHost> ps_hosts(const Setting& setting, const Strategy& strategy) {
  const hw::Cluster& cluster = setting.cluster;
  std::vector<comm::PsHost> hosts;
  for (const hw::Node& node : cluster.nodes) {
    hw::Link link = cluster.links[static_cast<std::size_t>(node.network)];
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
  const hw::Link network = hosts.front().network;
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
Transfer role_traffic(const std::vector<comm::PsHost>& hosts, const comm::PsTraffic& traffic) {
  Transfer transfer;
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    const double in = traffic.host_in_bytes[h];
    const double out = traffic.host_out_bytes[h];
    if (hosts[h].workers > 0) {
      transfer.worker_rx_bytes = std::max(transfer.worker_rx_bytes, in);
      transfer.worker_tx_bytes = std::max(transfer.worker_tx_bytes, out);
    }
    if (hosts[h].servers > 0) {
      transfer.server_rx_bytes = std::max(transfer.server_rx_bytes, in);
      transfer.server_tx_bytes = std::max(transfer.server_tx_bytes, out);
    }
  }
  return transfer;
}

Transfer scaled(Transfer transfer, double factor) {
  transfer.worker_tx_bytes *= factor;
  transfer.worker_rx_bytes *= factor;
  transfer.server_tx_bytes *= factor;
  transfer.server_rx_bytes *= factor;
  return transfer;
}

void plan_servers(const Step& step, const graph::Bound& bound, const Setting& setting,
                  const Request& request, Communication& plan) {
  const Strategy& strategy = request.strategy;
  const comm::PsMode mode =
      strategy.asynchronous ? comm::PsMode::Asynchronous : comm::PsMode::Synchronous;
  plan.buckets = make_buckets(step, bound, 0, 0);  // variable by variable
  const double bytes = total_bytes(plan.buckets);
  if (bytes == 0) return;
  const std::vector<comm::PsHost> hosts = ps_hosts(setting, strategy);
  const Seconds all = comm::ps_exchange(bytes, hosts, mode);
  const Seconds own = strategy.asynchronous ? comm::ps_lone_pull(bytes, hosts, 0) : all;
  plan.entry = own;
  if (strategy.asynchronous) plan.floor = all;
  plan.per_entry = role_traffic(hosts, comm::ps_pull_traffic(bytes, hosts, mode));
  plan.per_byte = scaled(role_traffic(hosts, comm::ps_push_traffic(bytes, hosts, mode)), 1 / bytes);
  // A server adds up what each host (or each worker) sends and updates its share in memory.
  const auto senders = static_cast<double>(setting.cluster.nodes.size());
  const double copies = strategy.asynchronous ? 1 : senders;
  const graph::OptimizerRow& row = graph::row_of(request.optimizer);
  for (const Bucket& bucket : plan.buckets) {
    plan.bucket_times.push_back(own * (bucket.bytes / bytes));
    plan.server_times.emplace_back((copies + row.reads + row.writes) * bucket.bytes /
                                   strategy.servers / setting.server_device.memory_bytes_per_s);
  }
  plan.assumptions.push_back(
      std::to_string(strategy.servers) + " parameter server" + (strategy.servers > 1 ? "s" : "") +
      ", " + (strategy.asynchronous ? "asynchronous" : "synchronous") +
      (strategy.server_placement.empty() ? ", round-robin over the nodes" : ""));
}

}  // namespace

Communication plan_communication(const Step& step, const graph::Bound& bound,
                                 const Setting& setting, const Request& request) {
  Communication plan;
  if (request.mode == Mode::Inference) return plan;
  if (request.strategy.kind == Parallel::ParameterServer) {
    plan_servers(step, bound, setting, request, plan);
    plan.per_gradient = kCpuServerGradient;
  } else if (setting.workers > 1) {
    if (request.strategy.kind == Parallel::DataParallel) {
      plan_data_parallel(step, bound, setting, plan);
    } else {
      plan_all_reduce(step, bound, setting, request, plan);
      plan.per_gradient = kCpuDdpGradient;
      plan.per_gradient_byte_s = kCpuDdpByte_s;
    }
  }
  return plan;
}

Entry before_step(const Communication& plan, Job& job) {
  Entry entry;
  entry.network = sim::add_resource(job.program, sim::Service::InOrder);
  entry.server = sim::add_resource(job.program, sim::Service::InOrder);
  if (plan.entry) {
    const sim::TaskId task =
        sim::add_task(job.program, {entry.network, *plan.entry, kCommunicationTask, 0}, {});
    Transfer transfer = plan.per_entry;
    transfer.task = task;
    job.transfers.push_back(transfer);
    entry.after.push_back(task);
  }
  return entry;
}

std::vector<sim::TaskId> exchange_gradients(const Communication& plan, const Entry& entry,
                                            const std::vector<std::vector<sim::TaskId>>& ready,
                                            Job& job) {
  std::vector<sim::TaskId> ends;
  for (std::size_t b = 0; b < plan.buckets.size(); ++b) {
    const auto tag = static_cast<std::int32_t>(b);
    const sim::TaskId sent = sim::add_task(
        job.program, {entry.network, plan.bucket_times[b], kCommunicationTask, tag}, ready[b]);
    Transfer transfer = scaled(plan.per_byte, plan.buckets[b].bytes);
    transfer.task = sent;
    job.transfers.push_back(transfer);
    ends = {sent};  // the network serves in order, so the last one ends last
    if (!plan.server_times.empty()) {
      ends = {sim::add_task(job.program, {entry.server, plan.server_times[b], kServerTask, tag},
                            {sent})};
    }
  }
  return ends;
}

}  // namespace foretrain
