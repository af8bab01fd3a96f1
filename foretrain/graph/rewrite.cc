// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/detail/rewrite.h"

#include "foretrain/graph/builder.h"
#include "foretrain/graph/passes.h"
#include "foretrain/graph/rules.h"

namespace foretrain::graph {

Rewrite::Rewrite(const Graph& old) : old_(old), map_(old.tensors.size(), -1) {
  require_forward(old);
  graph_.name = old.name;
  graph_.symbols = old.symbols;
  graph_.notes = old.notes;
  for (std::size_t t = 0; t < old.tensors.size(); ++t) {
    if (old.tensors[t].role == Role::Activation) continue;
    map_[t] = static_cast<TensorId>(graph_.tensors.size());
    graph_.tensors.push_back(old.tensors[t]);
  }
}

std::vector<TensorId> Rewrite::now(const std::vector<TensorId>& old) const {
  std::vector<TensorId> result;
  result.reserve(old.size());
  for (const TensorId id : old) result.push_back(now(id));
  return result;
}

void Rewrite::keep(const Node& node) { keep(node, now(node.inputs)); }

void Rewrite::keep(const Node& node, std::vector<TensorId> inputs) {
  Node copy = node;
  copy.inputs = std::move(inputs);
  std::vector<TensorId> outputs;
  if (op(node).infer == infer_given) {  // its shapes cannot be inferred
    copy.outputs.clear();
    for (const TensorId id : node.outputs) {
      copy.outputs.push_back(static_cast<TensorId>(graph_.tensors.size()));
      graph_.tensors.push_back(old_.tensor(id));
    }
    outputs = copy.outputs;
    graph_.nodes.push_back(std::move(copy));
  } else {
    outputs = append(graph_, std::move(copy));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) becomes(node.outputs[i], outputs[i]);
}

void Rewrite::retype_saved(const Node& node, DType type) {
  for (std::size_t i = 1; i < node.outputs.size(); ++i) {
    graph_.tensor(now(node.outputs[i])).type = type;
  }
}

Graph Rewrite::finish() {
  for (const TensorId id : old_.outputs) graph_.outputs.push_back(now(id));
  if (old_.loss) graph_.loss = now(*old_.loss);
  return std::move(graph_);
}

}  // namespace foretrain::graph
