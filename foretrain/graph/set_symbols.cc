// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/set_symbols.h"

#include <algorithm>
#include <optional>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::graph {
namespace {

// What each symbol of the graph becomes: a number, or a symbol at the place that is left to it.
using Replacements = std::vector<Dim>;

void check_values(const Graph& graph, const Binding& values) {
  for (const auto& [name, value] : values) {
    if (std::find(graph.symbols.begin(), graph.symbols.end(), name) == graph.symbols.end()) {
      std::string known;
      for (const std::string& one : graph.symbols) known += (known.empty() ? "" : ", ") + one;
      throw Error(ErrorKind::BadInput, "graph '" + printable(graph.name) + "' has no symbol '" +
                                           printable(name) + "'; it has " +
                                           (known.empty() ? "none" : known));
    }
    if (value < 1) {
      throw Error(ErrorKind::BadInput,
                  "symbol '" + printable(name) + "' stands for a number of at least 1");
    }
  }
}

void replace(Dim& dim, const Replacements& by) {
  if (is_number(dim)) return;
  Dim product(dim.factor);
  for (std::size_t i = 0; i < by.size(); ++i) {
    for (int p = 0; p < dim.power[i]; ++p) product = product * by[i];
  }
  dim = product;
}

}  // namespace

Graph set_symbols(Graph graph, const Binding& values) {
  check_values(graph, values);
  Replacements by;
  std::vector<std::string> open;
  for (const std::string& name : graph.symbols) {
    const auto given = std::find_if(values.begin(), values.end(),
                                    [&](const auto& value) { return value.first == name; });
    if (given != values.end()) {
      by.emplace_back(given->second);
    } else {
      by.push_back(symbol(static_cast<int>(open.size())));
      open.push_back(name);
    }
  }
  graph.symbols = std::move(open);
  for (Tensor& tensor : graph.tensors) {
    for (int axis = 0; axis < tensor.shape.rank(); ++axis) replace(tensor.shape[axis], by);
  }
  for (Node& node : graph.nodes) {
    for (Attribute attribute : node.attributes.list()) {
      for (Dim& value : attribute.values) replace(value, by);
      node.attributes.set(attribute.key, std::move(attribute.values));
    }
  }
  return graph;
}

}  // namespace foretrain::graph
