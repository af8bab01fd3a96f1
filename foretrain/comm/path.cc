// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/path.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace foretrain::comm {
namespace {

const Link& link_at(const std::vector<Link>& links, int index) {
  return links[static_cast<std::size_t>(index)];
}

// A link better than any, to be made worse link by link.
Link ideal_link(const Constants& constants) {
  Link link = described({}, constants);
  link.bytes_per_s = std::numeric_limits<double>::infinity();
  link.least_share = 1;
  link.chain = 0;
  return link;
}

void make_no_better_than(const Link& other, double bytes_per_s, Link& link) {
  link.latency = std::max(link.latency, other.latency);
  link.ramp = std::max(link.ramp, other.ramp);
  link.ramp_growth = std::max(link.ramp_growth, other.ramp_growth);
  link.launch = std::max(link.launch, other.launch);
  link.chain = std::max(link.chain, other.chain);
  link.least_share = std::min(link.least_share, other.least_share);
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
double share_of_nics(const Link& network, const Share& share) {
  hw::Link used = network;
  used.nics = std::min(network.nics, share.devices);
  double rate = node_bytes_per_s(used);
  if (!network.rdma) {
    const double apart = network.neighbour * (used.nics - 1);
    rate /= 1 + apart + network.shared_nic * (share.devices - used.nics);
  }
  return rate / share.groups;
}

// Rate of a ring through `members` devices of a node.
double ring_inside(const Link& link, int members) {
  const double reached = node_bytes_per_s(link);
  return link.peers == 0 ? reached : reached * std::min(1.0, (members - 1.0) / link.peers);
}

// A link for two devices alone, of which one has `parts` links or NICs for as many others.
void make_pair_no_better_than(const Link& other, int parts, Link& pair) {
  const double rate = node_bytes_per_s(other) / std::max(parts, 1) * other.pair;
  make_no_better_than(other, rate, pair);
  pair.ramp = Seconds{0};
}

// One step of a ring over all ranks; `latency_inside` is the sum over its links inside nodes.
Link step_of_ring(const Path& path, Seconds latency_inside) {
  Link step = path.inside;
  make_no_better_than(path.across, path.across.bytes_per_s, step);
  if (path.ranks > 1) {
    const Seconds latency_across = (path.nodes - 1) * path.across.latency;
    step.latency = (latency_inside + latency_across) / (path.ranks - 1);
  }
  return step;
}

}  // namespace

Path path_over(const hw::Cluster& cluster, const Group& group, const Constants& constants) {
  assert(group.ranks >= 1 && group.stride >= 1 && group.first >= 0);
  Path path{.ranks = group.ranks, .nodes = 0, .most_devices = 0};
  std::vector<Link> links;
  for (const hw::Link& link : cluster.links) links.push_back(tuned(link, constants));
  path.inside = path.across = ideal_link(constants);
  Link pair_inside = ideal_link(constants);
  Link pair_across = ideal_link(constants);
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
      const Link& link = link_at(links, node.intra_node);
      make_no_better_than(link, ring_inside(link, share.members), path.inside);
      make_pair_no_better_than(link, link.peers, pair_inside);
      const bool alone = share.members == group.ranks;
      latency_inside += (share.members - 1) * (alone ? 1 : link.ring) * link.latency;
    }
    if (share.members < group.ranks) {  // else it has no need of a network
      const Link& network = link_at(links, node.network);
      make_no_better_than(network, share_of_nics(network, share), path.across);
      make_pair_no_better_than(network, network.nics, pair_across);
    }
  }
  assert(group.first + (group.ranks - 1) * group.stride < first_rank);
  path.even = fewest == path.most_devices;
  path.across.ramp *= std::pow(path.nodes / 2.0, path.across.ramp_growth);
  path.flat = step_of_ring(path, latency_inside);
  path.pair = path.nodes > 1 ? pair_across : pair_inside;
  return path;
}

Path path_over(const hw::Cluster& cluster, const Constants& constants) {
  int ranks = 0;
  for (const hw::Node& node : cluster.nodes) ranks += node.devices;
  return path_over(cluster, {.first = 0, .ranks = ranks, .stride = 1}, constants);
}

}  // namespace foretrain::comm
