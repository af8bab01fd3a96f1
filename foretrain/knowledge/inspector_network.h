// SPDX-License-Identifier: Apache-2.0
// The graph network of an inspector, with all that turns a step into its input and its outputs into
// numbers of the report.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/learn/graph_network.h"

namespace foretrain {

// How a step's graph is made small.
struct Grouping {
  std::size_t groups = 20;    // at most
  bool proportional = false;  // the count follows the graph's size instead
  std::uint64_t seed = 1;
};

// What the network sees of a group of nodes.
enum class NodeFeatures {
  Driple,   // as published: sum of operator codes, sum of output bytes, number of nodes
  Physics,  // operator families, phases, bytes and predicted time
};
std::string_view name_of(NodeFeatures features);  // "driple", "physics"

// Inputs become (x - mean) / deviation; empty: they stay as they are.
struct Standard {
  std::vector<float> mean{};
  std::vector<float> deviation{};
};

// One output x of the network. With physics p, the logarithm that a feature holds, it says
// log y = p + offset + scale x; without, y = scale x, where what is below `least` counts as that.
struct NetworkOutput {
  std::string name{};  // as in InspectorTarget
  std::optional<std::size_t> physics{};
  double offset = 0;
  double scale = 1;
  double least = 0;
  // Ends of log(measured / predicted) on architectures that were not trained on.
  double low = 0;
  double high = 0;
  std::size_t examples = 0;  // that were trained on
};

struct InspectorNetwork {
  Grouping grouping{};
  NodeFeatures nodes = NodeFeatures::Physics;
  std::map<std::string, double> codes{};  // of operators: their share of all nodes trained on
  Standard node_standard{};
  std::vector<std::size_t> whole{};  // the features that the network sees of the whole job
  Standard whole_standard{};
  std::vector<NetworkOutput> outputs{};
  learn::GraphNetwork network{};
};

// As JSON, and back. `features`: how many the inspector knows. Throws Error(BadInput) naming
// `where`.
std::string write_inspector_network(const InspectorNetwork& network);
InspectorNetwork read_inspector_network(std::string_view text, std::size_t features,
                                        const std::string& where);

}  // namespace foretrain
