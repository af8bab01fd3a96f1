// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/path.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>

namespace foretrain::comm {
namespace {

constexpr double kTcpDisturbance = 0.077;  // per further device on a node
constexpr double kRampGrowth = 0.47;       // exponent of half the number of nodes

const hw::Link& link_at(const hw::Cluster& cluster, int index) {
  return cluster.links[static_cast<std::size_t>(index)];
}

// A link better than any, to be made worse link by link.
hw::Link ideal_link() {
  hw::Link link;
  link.bytes_per_s = std::numeric_limits<double>::infinity();
  return link;
}

void make_no_better_than(const hw::Link& other, double bytes_per_s, hw::Link& link) {
  link.latency = std::max(link.latency, other.latency);
  link.ramp = std::max(link.ramp, other.ramp);
  link.bytes_per_s = std::min(link.bytes_per_s, bytes_per_s);
  link.rdma = link.rdma && other.rdma;
}

// Members of the group among ranks below `rank`.
int members_below(const Group& group, int rank) {
  const int span = std::max(0, rank - group.first);
  return std::min(group.ranks, (span + group.stride - 1) / group.stride);
}

// What the groups side by side put on one node.
struct Share {
  int members = 0;  // of this group
  int groups = 0;   // with a member there
  int devices = 0;  // at work in all of them
};

Share share_of(const Group& group, int first_rank, int devices) {
  Share share;
  share.members = members_below(group, first_rank + devices) - members_below(group, first_rank);
  if (share.members == 0) return share;
  share.groups = std::min(group.stride, devices);
  share.devices = std::min(devices, share.members * share.groups);
  return share;
}

// Rate of this group's share of a node's NICs.
double share_of_nics(const hw::Link& network, const Share& share) {
  hw::Link used = network;
  used.nics = std::min(network.nics, share.devices);
  double rate = node_bytes_per_s(used);
  if (!network.rdma) rate /= 1 + kTcpDisturbance * (share.devices - 1);
  return rate / share.groups;
}

// One step of a ring over all ranks; `latency_inside` is the sum over its links inside nodes.
hw::Link step_of_ring(const Path& path, Seconds latency_inside) {
  hw::Link step = path.inside;
  make_no_better_than(path.across, path.across.bytes_per_s, step);
  if (path.ranks > 1) {
    const Seconds latency_across = (path.nodes - 1) * path.across.latency;
    step.latency = (latency_inside + latency_across) / (path.ranks - 1);
  }
  return step;
}

}  // namespace

Path path_over(const hw::Cluster& cluster, const Group& group) {
  assert(group.ranks >= 1 && group.stride >= 1 && group.first >= 0);
  Path path{.ranks = group.ranks, .nodes = 0, .most_devices = 0};
  path.inside = ideal_link();
  path.across = ideal_link();
  int fewest = group.ranks;
  Seconds latency_inside{0};
  int first_rank = 0;
  for (const hw::Node& node : cluster.nodes) {
    const Share share = share_of(group, first_rank, node.devices);
    first_rank += node.devices;
    if (share.members == 0) continue;
    ++path.nodes;
    path.most_devices = std::max(path.most_devices, share.members);
    fewest = std::min(fewest, share.members);
    if (share.members > 1) {
      const hw::Link& link = link_at(cluster, node.intra_node);
      make_no_better_than(link, node_bytes_per_s(link), path.inside);
      latency_inside += (share.members - 1) * link.latency;
    }
    if (share.members < group.ranks) {  // else it has no need of a network
      const hw::Link& network = link_at(cluster, node.network);
      make_no_better_than(network, share_of_nics(network, share), path.across);
    }
  }
  assert(group.first + (group.ranks - 1) * group.stride < first_rank);
  path.even = fewest == path.most_devices;
  if (path.across.rdma) path.across.ramp *= std::pow(path.nodes / 2.0, kRampGrowth);
  path.flat = step_of_ring(path, latency_inside);
  return path;
}

Path path_over(const hw::Cluster& cluster) {
  int ranks = 0;
  for (const hw::Node& node : cluster.nodes) ranks += node.devices;
  return path_over(cluster, {.first = 0, .ranks = ranks, .stride = 1});
}

hw::Link effective_link(const hw::Cluster& cluster) { return path_over(cluster).flat; }

}  // namespace foretrain::comm
