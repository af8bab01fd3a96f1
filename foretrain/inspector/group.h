// SPDX-License-Identifier: Apache-2.0
// A step's graph made small: nodes that belong together become one.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "foretrain/graph/bind.h"

namespace foretrain::inspector {

// Nodes of the step that were taken together.
struct NodeGroup {
  std::vector<graph::NodeId> nodes{};
  double output_bytes = 0;  // of all their outputs
};

struct GroupedGraph {
  std::vector<NodeGroup> groups{};
  std::vector<std::pair<std::int32_t, std::int32_t>> edges{};  // between groups, each once, a < b
  std::size_t dropped = 0;  // nodes outside the largest connected part
};

// Divides what runs on the device, without direction, into `groups` communities of equal density:
// fluid communities (Parés et al., COMPLEX NETWORKS 2017; igraph). Where there are no more nodes
// than groups, each node is a group. What is not connected to the largest part is dropped. The same
// seed gives the same groups.
GroupedGraph group_nodes(const graph::Bound& step, std::size_t groups, std::uint64_t seed);

// {"groups": [{"nodes": [...], "kinds": {"conv": 3, ...}, "output_bytes": ...}], "edges": [[0, 1],
// ...], "dropped": ...}; nodes are numbered as `foretrain graph --json` lists them.
std::string to_json(const GroupedGraph& grouped, const graph::Graph& step);

// How many groups a graph of `nodes` nodes gets when groups grow with the graph: twice the square
// root, at least 4.
std::size_t proportional_groups(std::size_t nodes);

}  // namespace foretrain::inspector
