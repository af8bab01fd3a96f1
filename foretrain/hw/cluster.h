// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "foretrain/hw/device.h"
#include "foretrain/hw/link.h"

namespace foretrain::hw {

// `devices` equal devices in one machine. Indices point into the vectors of the Cluster.
struct Node {
  int device = 0;      // Cluster::devices
  int devices = 1;
  int intra_node = 0;  // Cluster::links
  int network = 0;     // Cluster::links: the node's own NICs
};

// Where a job runs: the nodes in rank order. Ranks are numbered node by node.
struct Cluster {
  std::vector<Device> devices;
  std::vector<Link> links;
  std::vector<Node> nodes;
};

int worker_count(const Cluster& cluster);

}  // namespace foretrain::hw
