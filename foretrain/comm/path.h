// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/comm/constants.h"
#include "foretrain/comm/link.h"
#include "foretrain/hw/cluster.h"

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
  Link inside{};         // between two of the group's devices in a node, for one device; means
                         // nothing when most_devices is 1
  Link across{};         // between nodes, for all the group's devices on a node together; means
                         // nothing when nodes is 1
  Link flat{};           // one step of a ring over all ranks
  Link pair{};           // between two ranks that have no others beside them: in different nodes
                         // where there are several
};

// Path of a group, or of all ranks of the cluster.
//
// Inside a node: the rate of the node's own link; of direct links to q peers, the n-1 that lead to
// other members (pairs of A100 with direct links reach a third of what four together reach).
// Across: the slowest node's NICs, of which a node drives no more than it has devices at work
// (A100 nodes with four NICs of 1.2 GB/s per TCP flow reached 1.2, 2.3 and 4.4 GB/s with one, two
// and four devices). With TCP the devices of a node disturb each other,
//
//   B = B_node / (1 + d (m-1) + 0.077 (g-m))     g: most devices at work on one node,
//                                                 m: NICs that they drive
//
// and with RDMA the ramp grows with the nodes (Link::ramp_growth).
//
// Flat: a ring crosses every link, so the slowest rate and the longest ramp hold; a piece of data
// passes p-N links inside nodes and N-1 across on its way, so a step has their mean latency, in
// which those inside count `ring` times where there are several nodes.
// Pair: one NIC, or the links that lead to one peer, at `pair` times the rate, without ramp.
// Sources: fits of NCCL on T4 cloud nodes over TCP (Pollux data: 0.077) and on the data of
// `foretrain fit collectives`, measurements on Perlmutter (NICs); docs/models/collectives.md.
Path path_over(const hw::Cluster& cluster, const Group& group, const Constants& constants);
Path path_over(const hw::Cluster& cluster, const Constants& constants);

}  // namespace foretrain::comm
