// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/hw/cluster.h"
#include "foretrain/hw/link.h"

namespace foretrain::comm {

// Ranks of a cluster that communicate: first, first + stride, ... `stride` such groups side by
// side do so at the same time and share the NICs of their nodes (data parallel beside tensor
// parallel: groups of stride tp). Ranks are numbered node by node.
struct Group {
  int first = 0;
  int ranks = 1;
  int stride = 1;
};

// The links that a group of ranks sees: bytes_per_s is what long transfers reach, as all functions
// of `comm` expect it. The slowest link decides where links differ, whatever the placement.
struct Path {
  int ranks = 1;
  int nodes = 1;
  int most_devices = 1;  // of the group on one node
  bool even = true;      // every node has that many
  hw::Link inside{};     // between two of the group's devices in a node, for one device; means
                         // nothing when most_devices is 1
  hw::Link across{};     // between nodes, for all the group's devices on a node together; means
                         // nothing when nodes is 1
  hw::Link flat{};       // one step of a ring over all ranks
};

// Path of a group, or of all ranks of the cluster.
//
// Inside a node: the rate of the node's own link. Across: the slowest node's NICs, of which a
// node drives no more than it has devices at work (A100 nodes with four NICs of 1.2 GB/s per TCP
// flow reached 1.2, 2.3 and 4.4 GB/s with one, two and four devices). With TCP the devices of a
// node disturb each other,
//
//   B = B_node / (1 + 0.077 (g-1))     g: most devices at work on one node
//
// and with RDMA the ramp grows with the nodes, r (N/2)^0.47.
//
// Flat: a ring crosses every link, so the slowest rate and the longest ramp hold; a piece of data
// passes p-N links inside nodes and N-1 across on its way, so a step has their mean latency.
// Sources: fits of NCCL on T4 cloud nodes over TCP (Pollux data: 0.077) and on A100 nodes over
// InfiniBand (Echo data: 0.47), measurements on Perlmutter (NICs); docs/models.md.
Path path_over(const hw::Cluster& cluster, const Group& group);
Path path_over(const hw::Cluster& cluster);

// The link that a ring over all ranks of the cluster sees: path_over(cluster).flat.
hw::Link effective_link(const hw::Cluster& cluster);

}  // namespace foretrain::comm
