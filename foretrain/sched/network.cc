// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/network.h"

#include <algorithm>

namespace foretrain::sched {
namespace {

bool sends(const Allocation& where, const Timing& timing) {
  return where.shares.size() > 1 && timing.network_bytes_per_s > 0;
}

}  // namespace

Network::Network(const hw::Cluster& cluster) {
  ports_.reserve(cluster.nodes.size());
  for (const hw::Node& node : cluster.nodes) {
    const hw::Link& link = cluster.links[static_cast<std::size_t>(node.network)];
    ports_.push_back({hw::node_bytes_per_s(link), 0, {}});
  }
}

void Network::add(int slot, const Allocation& where, const Timing& timing) {
  if (!sends(where, timing)) return;
  for (const Share& share : where.shares) {
    Port& port = ports_[static_cast<std::size_t>(share.node)];
    port.demand_bytes_per_s += timing.network_bytes_per_s;
    port.slots.push_back(slot);
    touched_.push_back(share.node);
  }
}

void Network::remove(int slot, const Allocation& where, const Timing& timing) {
  if (!sends(where, timing)) return;
  for (const Share& share : where.shares) {
    Port& port = ports_[static_cast<std::size_t>(share.node)];
    port.slots.erase(std::find(port.slots.begin(), port.slots.end(), slot));
    port.demand_bytes_per_s -= timing.network_bytes_per_s;
    if (port.slots.empty()) port.demand_bytes_per_s = 0;  // no rest of rounding
    touched_.push_back(share.node);
  }
}

double Network::speed(const Allocation& where, const Timing& timing) const {
  if (!sends(where, timing)) return 1;
  double worst = 1;
  for (const Share& share : where.shares) {
    const Port& port = ports_[static_cast<std::size_t>(share.node)];
    if (port.slots.size() < 2) continue;  // alone: its timing knows the link already
    worst = std::max(worst, port.demand_bytes_per_s / port.capacity_bytes_per_s);
  }
  return 1 / (1 - timing.network_share + timing.network_share * worst);
}

std::vector<int> Network::take_touched() {
  std::vector<int> slots;
  for (const int node : touched_) {
    const Port& port = ports_[static_cast<std::size_t>(node)];
    slots.insert(slots.end(), port.slots.begin(), port.slots.end());
  }
  touched_.clear();
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  return slots;
}

}  // namespace foretrain::sched
