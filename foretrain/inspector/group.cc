// SPDX-License-Identifier: Apache-2.0
#include "foretrain/inspector/group.h"

#include <igraph/igraph.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>
#include <set>

#include "foretrain/base/error.h"
#include "foretrain/base/json_writer.h"
#include "foretrain/graph/op.h"

namespace foretrain::inspector {
namespace {

using Edge = std::pair<std::int32_t, std::int32_t>;

struct Links {
  std::size_t nodes = 0;
  std::vector<Edge> edges{};  // each once, smaller number first
};

// Every node that runs on the device is joined to those whose outputs it reads.
Links links_of(const graph::Graph& graph) {
  std::vector<std::int32_t> writer(graph.tensors.size(), -1);
  std::set<Edge> edges;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const graph::Node& node = graph.nodes[i];
    if (graph::is_communication(node)) continue;
    const auto reader = static_cast<std::int32_t>(i);
    for (const graph::TensorId input : node.inputs) {
      const std::int32_t from = writer[static_cast<std::size_t>(input)];
      if (from >= 0 && from != reader) edges.insert(std::minmax(from, reader));
    }
    for (const graph::TensorId output : node.outputs)
      writer[static_cast<std::size_t>(output)] = reader;
  }
  return {graph.nodes.size(), {edges.begin(), edges.end()}};
}

// The nodes of the largest connected part, in their order.
std::vector<std::int32_t> largest_part(const Links& links) {
  std::vector<std::int32_t> leader(links.nodes);
  std::iota(leader.begin(), leader.end(), 0);
  const auto find = [&](std::int32_t node) {
    while (leader[static_cast<std::size_t>(node)] != node) {
      std::int32_t& next = leader[static_cast<std::size_t>(node)];
      node = next = leader[static_cast<std::size_t>(next)];
    }
    return node;
  };
  for (const auto& [a, b] : links.edges) leader[static_cast<std::size_t>(find(a))] = find(b);
  std::vector<std::size_t> size(links.nodes);
  for (std::size_t i = 0; i < links.nodes; ++i) {
    ++size[static_cast<std::size_t>(find(static_cast<std::int32_t>(i)))];
  }
  const auto best =
      static_cast<std::int32_t>(std::max_element(size.begin(), size.end()) - size.begin());
  std::vector<std::int32_t> part;
  for (std::size_t i = 0; i < links.nodes; ++i) {
    const auto node = static_cast<std::int32_t>(i);
    if (find(node) == best) part.push_back(node);
  }
  return part;
}

// Which community each node belongs to. igraph draws from one generator of its own, so that calls
// take turns.
std::vector<std::size_t> communities(std::size_t nodes, const std::vector<Edge>& edges,
                                     std::size_t groups, std::uint64_t seed) {
  static std::mutex turn;
  const std::lock_guard lock(turn);
  igraph_set_error_handler(igraph_error_handler_ignore);  // the usual one ends the program
  igraph_vector_int_t ends;
  igraph_vector_int_init(&ends, 0);
  for (const auto& [a, b] : edges) {
    igraph_vector_int_push_back(&ends, a);
    igraph_vector_int_push_back(&ends, b);
  }
  igraph_t graph;
  igraph_create(&graph, &ends, static_cast<igraph_integer_t>(nodes), IGRAPH_UNDIRECTED);
  igraph_vector_int_t membership;
  igraph_vector_int_init(&membership, 0);
  igraph_rng_seed(igraph_rng_default(), seed);
  const igraph_error_t code = igraph_community_fluid_communities(
      &graph, static_cast<igraph_integer_t>(groups), &membership);
  std::vector<std::size_t> result(nodes);
  for (std::size_t i = 0; code == IGRAPH_SUCCESS && i < nodes; ++i) {
    result[i] = static_cast<std::size_t>(VECTOR(membership)[i]);
  }
  igraph_vector_int_destroy(&membership);
  igraph_vector_int_destroy(&ends);
  igraph_destroy(&graph);
  if (code != IGRAPH_SUCCESS) {
    throw Error(ErrorKind::Io,
                std::string("the graph cannot be grouped: ") + igraph_strerror(code));
  }
  return result;
}

// Groups are numbered by their first node, so that their order means the order of execution.
std::vector<std::size_t> in_order(const std::vector<std::size_t>& group) {
  std::vector<std::size_t> number(group.size(), group.size());
  std::vector<std::size_t> result;
  std::size_t next = 0;
  for (const std::size_t one : group) {
    if (number[one] == group.size()) number[one] = next++;
    result.push_back(number[one]);
  }
  return result;
}

double output_bytes(const graph::Bound& step, graph::NodeId id) {
  double bytes = 0;
  for (const graph::TensorId output : step.graph->nodes[static_cast<std::size_t>(id)].outputs) {
    bytes += step.bytes(output);
  }
  return bytes;
}

}  // namespace

GroupedGraph group_nodes(const graph::Bound& step, std::size_t groups, std::uint64_t seed) {
  const Links links = links_of(*step.graph);
  GroupedGraph grouped;
  if (links.nodes == 0) return grouped;
  const std::vector<std::int32_t> part = largest_part(links);
  std::vector<std::int32_t> place(links.nodes, -1);
  for (std::size_t i = 0; i < part.size(); ++i) {
    place[static_cast<std::size_t>(part[i])] = static_cast<std::int32_t>(i);
  }
  std::vector<Edge> edges;
  for (const auto& [a, b] : links.edges) {
    const std::int32_t from = place[static_cast<std::size_t>(a)];
    const std::int32_t to = place[static_cast<std::size_t>(b)];
    if (from >= 0 && to >= 0) edges.emplace_back(from, to);
  }
  std::vector<std::size_t> group(part.size());
  std::iota(group.begin(), group.end(), 0);
  if (part.size() > groups) group = in_order(communities(part.size(), edges, groups, seed));
  grouped.groups.resize(std::min(groups, part.size()));
  grouped.dropped = static_cast<std::size_t>(std::count_if(
                        step.graph->nodes.begin(), step.graph->nodes.end(),
                        [](const graph::Node& node) { return !graph::is_communication(node); })) -
                    part.size();
  for (std::size_t i = 0; i < part.size(); ++i) {
    NodeGroup& one = grouped.groups[group[i]];
    one.nodes.push_back(part[i]);
    one.output_bytes += output_bytes(step, part[i]);
  }
  std::set<Edge> between;
  for (const auto& [a, b] : edges) {
    const auto from = static_cast<std::int32_t>(group[static_cast<std::size_t>(a)]);
    const auto to = static_cast<std::int32_t>(group[static_cast<std::size_t>(b)]);
    if (from != to) between.insert(std::minmax(from, to));
  }
  grouped.edges.assign(between.begin(), between.end());
  return grouped;
}

std::string to_json(const GroupedGraph& grouped, const graph::Graph& step) {
  JsonWriter json;
  json.begin_object().key("groups").begin_array();
  for (const NodeGroup& group : grouped.groups) {
    std::map<std::string, int> kinds;
    json.begin_object().key("nodes").begin_array();
    for (const graph::NodeId node : group.nodes) {
      json.value(static_cast<double>(node));
      ++kinds[graph::describe(step.nodes[static_cast<std::size_t>(node)])];
    }
    json.end_array().key("kinds").begin_object();
    for (const auto& [kind, count] : kinds) json.field(kind, static_cast<double>(count));
    json.end_object().field("output_bytes", group.output_bytes).end_object();
  }
  json.end_array().key("edges").begin_array();
  for (const auto& [a, b] : grouped.edges) {
    json.begin_array().value(static_cast<double>(a)).value(static_cast<double>(b)).end_array();
  }
  json.end_array().field("dropped", static_cast<double>(grouped.dropped));
  return json.end_object().finish();
}

std::size_t proportional_groups(std::size_t nodes) {
  const double groups = std::round(2 * std::sqrt(static_cast<double>(nodes)));
  return std::max<std::size_t>(4, static_cast<std::size_t>(groups));
}

}  // namespace foretrain::inspector
