// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/dot.h"

#include <map>
#include <optional>
#include <utility>

#include "foretrain/base/near.h"
#include "foretrain/graph/attr_names.h"
#include "foretrain/graph/op.h"

namespace foretrain::graph {
namespace {

constexpr std::size_t kLongestLabel = 100;

// As the inside of a quoted string; control characters become visible escapes.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : printable(text, kLongestLabel)) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string first_part(const std::string& scope) { return scope.substr(0, scope.find('.')); }

class Drawing {
 public:
  explicit Drawing(const Graph& graph) : graph_(graph), source_(graph.tensors.size()) {}

  std::string draw() {
    out_ = "digraph \"" + escaped(graph_.name) + "\" {\n  rankdir=TB;\n  node [shape=box];\n";
    inputs();
    clusters();
    edges();
    return std::move(out_) + "}\n";
  }

 private:
  std::string shape_of(TensorId id) const {
    return to_string(graph_.tensor(id).shape, graph_.symbols);
  }

  void inputs() {
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
      const Tensor& tensor = graph_.tensors[t];
      if (tensor.role != Role::Input) continue;
      source_[t] = "t" + std::to_string(t);
      out_ += "  " + source_[t] + " [shape=ellipse, label=\"" + escaped(tensor.name) + "\\n" +
              escaped(shape_of(static_cast<TensorId>(t))) + "\"];\n";
    }
  }

  void node(std::size_t n) {
    const Node& node = graph_.nodes[n];
    out_ += "    n" + std::to_string(n) + " [label=\"" + escaped(describe(node));
    if (!node.outputs.empty()) out_ += "\\n" + escaped(shape_of(node.outputs.front()));
    out_ += "\", tooltip=\"" + escaped(node.scope) + "\"];\n";
  }

  void clusters() {
    std::map<std::pair<Phase, std::string>, std::vector<std::size_t>> groups;
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      groups[{node.phase, first_part(node.scope)}].push_back(n);
      for (const TensorId id : node.outputs)
        source_[static_cast<std::size_t>(id)] = "n" + std::to_string(n);
    }
    int count = 0;
    for (const auto& [key, members] : groups) {
      const auto& [phase, scope] = key;
      std::string title = scope;
      if (phase != Phase::Forward) title += " (" + std::string(phase_name(phase)) + ")";
      out_ += "  subgraph cluster_" + std::to_string(count++) + " {\n    label=\"" +
              escaped(title) + "\";\n";
      for (const std::size_t n : members) node(n);
      out_ += "  }\n";
    }
  }

  void edges() {
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      for (const TensorId id : graph_.nodes[n].inputs) {
        const std::string& source = source_[static_cast<std::size_t>(id)];
        if (!source.empty()) out_ += "  " + source + " -> n" + std::to_string(n) + ";\n";
      }
    }
  }

  const Graph& graph_;
  std::vector<std::string> source_;  // the name in the drawing of each tensor's writer
  std::string out_;
};

}  // namespace

std::string to_dot(const Graph& graph) { return Drawing(graph).draw(); }

}  // namespace foretrain::graph
