// SPDX-License-Identifier: Apache-2.0
// Source: LitGPT, litgpt/model.py (CausalSelfAttention): one linear layer, then a split.
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "foretrain/graph/builder.h"
#include "foretrain/graph/detail/rewrite.h"
#include "foretrain/graph/passes.h"

namespace foretrain::graph {
namespace {

constexpr std::array kParts{".q_proj", ".k_proj", ".v_proj"};

// The nodes of queries, keys and values of one layer.
using Triple = std::array<std::size_t, 3>;

bool alike(const Graph& model, const Node& a, const Node& b) {
  return a.inputs[0] == b.inputs[0] && a.inputs.size() == b.inputs.size() &&
         model.tensor(a.inputs[1]).shape[1] == model.tensor(b.inputs[1]).shape[1];
}

// Those that begin with the node `n`, the queries'. Neighbours are near: one layer apart at most.
std::optional<Triple> triple_at(const Graph& model, std::size_t n) {
  const Node& first = model.nodes[n];
  const std::string query = kParts[0];
  if (first.kind != Kind::Linear || !first.scope.ends_with(query)) return std::nullopt;
  const std::string parent = first.scope.substr(0, first.scope.size() - query.size());
  Triple found{n, 0, 0};
  for (std::size_t i = n + 1; i < model.nodes.size(); ++i) {
    const Node& node = model.nodes[i];
    if (!node.scope.starts_with(parent)) break;
    if (node.kind != Kind::Linear || !alike(model, first, node)) continue;
    for (std::size_t part = 1; part < kParts.size(); ++part) {
      if (node.scope == parent + kParts[part]) found[part] = i;
    }
  }
  if (found[1] == 0 || found[2] == 0) return std::nullopt;
  return found;
}

class Joining {
 public:
  explicit Joining(const Graph& model)
      : model_(model), rewrite_(model), gone_(model.nodes.size(), false) {}

  Graph run() {
    for (std::size_t n = 0; n < model_.nodes.size(); ++n) {
      if (gone_[n]) continue;
      const std::optional<Triple> triple = triple_at(model_, n);
      if (triple) {
        join(*triple);
      } else {
        rewrite_.keep(model_.nodes[n]);
      }
    }
    return without_unread(rewrite_.finish());
  }

 private:
  // The parameters that the three read as their input `i`, one after the other.
  TensorId joint_parameter(const Triple& triple, std::size_t i, const std::string& name) {
    Graph& graph = rewrite_.graph();
    Tensor joint = model_.tensor(model_.nodes[triple[0]].inputs[i]);
    std::int64_t rows = 0;
    for (const std::size_t n : triple) {
      rows += model_.tensor(model_.nodes[n].inputs[i]).shape[0].factor;
    }
    joint.shape[0] = Dim(rows);
    joint.name = name;
    graph.tensors.push_back(std::move(joint));
    return static_cast<TensorId>(graph.tensors.size()) - 1;
  }

  void join(const Triple& triple) {
    const Node& first = model_.nodes[triple[0]];
    Node linear = first;
    linear.scope = first.scope.substr(0, first.scope.rfind('.')) + ".qkv_proj";
    linear.inputs = {rewrite_.now(first.inputs[0]),
                     joint_parameter(triple, 1, linear.scope + ".weight")};
    if (first.inputs.size() > 2) {
      linear.inputs.push_back(joint_parameter(triple, 2, linear.scope + ".bias"));
    }
    linear.outputs.clear();
    Node split;
    split.kind = Kind::Split;
    split.scope = linear.scope;
    std::vector<Dim> sizes;
    for (const std::size_t n : triple) {
      sizes.push_back(model_.tensor(model_.nodes[n].inputs[1]).shape[0]);
      gone_[n] = true;
    }
    const int last = model_.tensor(first.outputs[0]).shape.rank() - 1;
    split.attributes = {{Attr::Axis, {Dim(last)}}, {Attr::Sizes, std::move(sizes)}};
    split.inputs = append(rewrite_.graph(), std::move(linear));
    const std::vector<TensorId> parts = append(rewrite_.graph(), std::move(split));
    for (std::size_t i = 0; i < triple.size(); ++i) {
      rewrite_.becomes(model_.nodes[triple[i]].outputs[0], parts[i]);
    }
  }

  // Parameters of the layers that are no more.
  static Graph without_unread(Graph graph) {
    std::vector<bool> read(graph.tensors.size(), false);
    for (const Node& node : graph.nodes) {
      for (const TensorId id : node.inputs) read[static_cast<std::size_t>(id)] = true;
    }
    std::vector<TensorId> now(graph.tensors.size(), -1);
    std::vector<Tensor> kept;
    for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
      if (graph.tensors[t].role == Role::Parameter && !read[t]) continue;
      now[t] = static_cast<TensorId>(kept.size());
      kept.push_back(std::move(graph.tensors[t]));
    }
    graph.tensors = std::move(kept);
    const auto map = [&now](TensorId& id) { id = now[static_cast<std::size_t>(id)]; };
    for (Node& node : graph.nodes) {
      for (TensorId& id : node.inputs) map(id);
      for (TensorId& id : node.outputs) map(id);
    }
    for (TensorId& id : graph.outputs) map(id);
    if (graph.loss) map(*graph.loss);
    return graph;
  }

  const Graph& model_;
  Rewrite rewrite_;
  std::vector<bool> gone_;  // joined before
};

}  // namespace

Graph join_projections(const Graph& model) { return Joining(model).run(); }

}  // namespace foretrain::graph
