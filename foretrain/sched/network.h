// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "foretrain/hw/cluster.h"
#include "foretrain/sched/job.h"

namespace foretrain::sched {

// Who sends over which node's network. A job that has several nodes asks each of them for
// Timing::network_bytes_per_s; where the jobs of a node ask for more than it has, the part of
// their time that waits for the network grows in proportion.
class Network {
 public:
  explicit Network(const hw::Cluster& cluster);

  void add(int slot, const Allocation& where, const Timing& timing);
  void remove(int slot, const Allocation& where, const Timing& timing);

  // The speed of a job there, 1 where no node is asked for more than it has:
  // 1 / (1 - share + share * worst), where `worst` is the largest demand / capacity above 1.
  double speed(const Allocation& where, const Timing& timing) const;

  // Slots of the jobs whose speed may have changed since the last call, sorted.
  std::vector<int> take_touched();

 private:
  struct Port {
    double capacity_bytes_per_s = 0;
    double demand_bytes_per_s = 0;
    std::vector<int> slots;
  };
  std::vector<Port> ports_;   // by node
  std::vector<int> touched_;  // nodes
};

}  // namespace foretrain::sched
