// SPDX-License-Identifier: Apache-2.0
// Which ranks communicate with which, and over which links.
#pragma once

#include <string>

#include "foretrain/comm/path.h"
#include "foretrain/graph/graph.h"
#include "foretrain/request/resolve.h"

namespace foretrain::parallel {

// How often each kind of parallelism divides the work. Ranks are numbered as Megatron-LM does it:
// those of a tensor-parallel group beside each other, then context, then data, pipeline outermost.
// The experts' ranks are neighbours among those of context and data together.
struct Degrees {
  int tensor = 1;
  int context = 1;
  int data = 1;
  int pipeline = 1;
  int expert = 1;
};

Degrees degrees_of(const Resolved& resolved);

// Ranks that hold the same parameters and sum their gradients: those of context and data.
int gradient_ranks(const Resolved& resolved);

// Of these, ranks that share one copy of the parameters, and how many copies there are.
int shard_ranks(const Resolved& resolved);
int copies(const Resolved& resolved);

// The group that has rank 0; the others are like it, shifted: `stride` of them side by side, such
// bundles one after another.
comm::Group first_group(graph::Among among, const Resolved& resolved);

// All groups of a kind. They are told apart by where on its node a group begins, so that the work
// does not grow with the ranks where all nodes are alike.
struct RankGroups {
  int count = 1;           // of groups
  comm::Group slowest{};   // the one with the slowest links, which all wait for
  comm::Path path{};       // its links
  int groups_on_node = 1;  // with a member on one node, at most
};

RankGroups rank_groups(graph::Among among, const Resolved& resolved);

// Every kind that has more than one rank, as JSON: its ranks, the links that it crosses.
std::string dump_groups(const Resolved& resolved);

}  // namespace foretrain::parallel
