// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "foretrain/hw/cluster.h"
#include "foretrain/sched/job.h"

namespace foretrain::sched {

// Which devices of a cluster are free. Nodes with the same type of device form a pool. Finding
// a node by its free devices takes logarithmic time.
class Nodes {
 public:
  // Keeps a reference to `cluster`.
  explicit Nodes(const hw::Cluster& cluster);

  int pools() const { return static_cast<int>(pools_.size()); }
  int devices(int pool) const { return at(pool).devices; }  // of nodes that are up
  int free(int pool) const { return at(pool).free; }
  int built(int pool) const { return at(pool).built; }  // of all nodes, up or not
  int largest_node(int pool) const { return static_cast<int>(at(pool).by_free.size()) - 1; }
  const std::string& type(int pool) const;  // the name of the device

  // The nodes of the pool that have exactly this many devices free, by number.
  const std::set<int>& with_free(int pool, int devices) const {
    return at(pool).by_free[static_cast<std::size_t>(devices)];
  }
  int free_of(int node) const { return free_[static_cast<std::size_t>(node)]; }
  int pool_of(int node) const { return pool_of_[static_cast<std::size_t>(node)]; }
  bool is_up(int node) const { return up_[static_cast<std::size_t>(node)]; }
  const hw::Cluster& cluster() const { return cluster_; }
  int size() const { return static_cast<int>(free_.size()); }

  // What `allocation` names must be free (or taken, for `give`).
  void take(const Allocation& allocation);
  void give(const Allocation& allocation);

  // A node without running jobs goes down, or comes back.
  void bring_down(int node);
  void bring_up(int node);

 private:
  struct Pool {
    int device = 0;  // hw::Cluster::devices
    int built = 0;
    int devices = 0;
    int free = 0;
    std::vector<std::set<int>> by_free;
  };
  const Pool& at(int pool) const { return pools_[static_cast<std::size_t>(pool)]; }
  void set_free(int node, int devices);

  const hw::Cluster& cluster_;
  std::vector<Pool> pools_;
  std::vector<int> pool_of_;
  std::vector<int> free_;
  std::vector<bool> up_;
};

}  // namespace foretrain::sched
