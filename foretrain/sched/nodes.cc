// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/nodes.h"

#include <cassert>

namespace foretrain::sched {

Nodes::Nodes(const hw::Cluster& cluster) : cluster_(cluster) {
  std::vector<int> pool_of_device(cluster.devices.size(), -1);
  for (const hw::Node& node : cluster.nodes) {
    int& pool = pool_of_device[static_cast<std::size_t>(node.device)];
    if (pool < 0) {
      pool = static_cast<int>(pools_.size());
      pools_.emplace_back().device = node.device;
    }
    Pool& home = pools_[static_cast<std::size_t>(pool)];
    const auto devices = static_cast<std::size_t>(node.devices);
    if (home.by_free.size() <= devices) home.by_free.resize(devices + 1);
    home.by_free[devices].insert(static_cast<int>(free_.size()));
    home.built += node.devices;
    home.devices += node.devices;
    home.free += node.devices;
    pool_of_.push_back(pool);
    free_.push_back(node.devices);
    up_.push_back(true);
  }
}

const std::string& Nodes::type(int pool) const {
  return cluster_.devices[static_cast<std::size_t>(at(pool).device)].name;
}

void Nodes::set_free(int node, int devices) {
  Pool& pool = pools_[static_cast<std::size_t>(pool_of(node))];
  int& now = free_[static_cast<std::size_t>(node)];
  assert(devices >= 0 && static_cast<std::size_t>(devices) < pool.by_free.size());
  auto moved = pool.by_free[static_cast<std::size_t>(now)].extract(node);
  pool.by_free[static_cast<std::size_t>(devices)].insert(std::move(moved));
  pool.free += devices - now;
  now = devices;
}

void Nodes::take(const Allocation& allocation) {
  for (const Share& share : allocation.shares) {
    assert(is_up(share.node) && free_of(share.node) >= share.devices);
    set_free(share.node, free_of(share.node) - share.devices);
  }
}

void Nodes::give(const Allocation& allocation) {
  for (const Share& share : allocation.shares) {
    set_free(share.node, free_of(share.node) + share.devices);
  }
}

void Nodes::bring_down(int node) {
  const int devices = cluster_.nodes[static_cast<std::size_t>(node)].devices;
  assert(is_up(node) && free_of(node) == devices);
  set_free(node, 0);
  pools_[static_cast<std::size_t>(pool_of(node))].devices -= devices;
  up_[static_cast<std::size_t>(node)] = false;
}

void Nodes::bring_up(int node) {
  const int devices = cluster_.nodes[static_cast<std::size_t>(node)].devices;
  assert(!is_up(node));
  up_[static_cast<std::size_t>(node)] = true;
  pools_[static_cast<std::size_t>(pool_of(node))].devices += devices;
  set_free(node, devices);
}

}  // namespace foretrain::sched
