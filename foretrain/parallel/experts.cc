// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/experts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/humanise.h"
#include "foretrain/base/near.h"
#include "foretrain/graph/op.h"
#include "foretrain/parallel/detail/insert.h"
#include "foretrain/parallel/groups.h"

namespace foretrain::parallel {
namespace {

using graph::Attr;
using graph::Dim;
using graph::Kind;
using graph::Node;
using graph::Role;
using graph::Shape;
using graph::TensorId;

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

// Of each tensor: the parameter that it is, or is a copy of in another type; -1: none.
std::vector<TensorId> copied_parameters(const graph::Graph& graph) {
  std::vector<TensorId> parameters(graph.tensors.size(), -1);
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    if (graph.tensors[t].role == Role::Parameter) parameters[t] = static_cast<TensorId>(t);
  }
  for (const Node& node : graph.nodes) {
    if (node.kind != Kind::Cast || !graph::is_forward(node)) continue;
    parameters[at(node.outputs.front())] = parameters[at(node.inputs.front())];
  }
  return parameters;
}

// One matrix per expert, for tokens that are sorted by expert.
bool is_expert_gemm(const graph::Graph& graph, const std::vector<TensorId>& parameters,
                    const Node& node) {
  if (node.kind != Kind::MatMul || !graph::is_forward(node)) return false;
  return parameters[at(node.inputs[1])] >= 0 && graph.tensor(node.inputs[1]).shape.rank() == 3 &&
         graph.tensor(node.inputs[0]).shape.rank() == 3;
}

class Splitting {
 public:
  Splitting(const graph::Graph& forward, const ExpertParallel& how)
      : old_(forward), graph_(forward), how_(how), parameters_(copied_parameters(forward)) {}

  graph::Graph run() {
    graph_.nodes.clear();
    const std::set<TensorId> parameters = expert_parameters(old_);
    if (parameters.empty()) {
      throw Error(ErrorKind::Unsupported, "strategy: expert " + std::to_string(how_.ranks) +
                                              ": model '" + printable(old_.name) +
                                              "' has no experts; leave it out");
    }
    for (const TensorId id : parameters) {
      Dim& experts = graph_.tensor(id).shape[0];
      require_divisible(experts.factor);
      experts.factor /= how_.ranks;
    }
    for (const Node& node : old_.nodes) add(node);
    for (TensorId& id : graph_.outputs) id = at_home(id, "");
    if (how_.imbalance != 1) {
      graph_.notes.push_back("expert_imbalance: of " + std::to_string(how_.ranks) +
                             " ranks the busiest has " + significant(how_.imbalance, 3) +
                             " times the mean of the tokens; the others wait for it");
    }
    return std::move(graph_);
  }

 private:
  void require_divisible(std::int64_t experts) const {
    if (experts % how_.ranks == 0) return;
    throw Error(ErrorKind::BadInput, "strategy: expert " + std::to_string(how_.ranks) +
                                         " does not divide the model's " + std::to_string(experts) +
                                         " experts");
  }

  void add(Node node) {
    if (is_expert_gemm(old_, parameters_, node)) {
      node.inputs[0] = at_experts(node.inputs[0], node.scope);
      away_.insert(node.outputs.begin(), node.outputs.end());
    } else if (stays_away(node)) {
      away_.insert(node.outputs.begin(), node.outputs.end());
    } else {
      for (TensorId& id : node.inputs) id = at_home(id, node.scope);
    }
    append_with_shapes(graph_, std::move(node));
  }

  // What is element-wise can be done where all that it reads is.
  bool stays_away(const Node& node) const {
    const bool element_wise =
        graph::op(node).family == graph::Family::Pointwise || node.kind == Kind::Cast;
    return element_wise && std::all_of(node.inputs.begin(), node.inputs.end(),
                                       [&](TensorId id) { return away_.contains(id); });
  }

  // [experts, tokens, features] of one rank's tokens to those of its experts.
  TensorId at_experts(TensorId id, const std::string& scope) {
    if (away_.contains(id)) return id;
    Shape shape = old_.tensor(id).shape;
    shape[0].factor /= how_.ranks;
    shape[1].factor = static_cast<std::int64_t>(
        std::ceil(static_cast<double>(shape[1].factor) * how_.ranks * how_.imbalance));
    return exchanged(id, shape, scope);
  }

  TensorId at_home(TensorId id, const std::string& scope) {
    return away_.contains(id) ? exchanged(id, old_.tensor(id).shape, scope) : id;
  }

  TensorId exchanged(TensorId id, const Shape& shape, const std::string& scope) {
    const auto [place, is_new] = exchanged_.try_emplace(id, -1);
    if (!is_new) return place->second;
    graph::Tensor tensor;
    tensor.shape = shape;
    tensor.type = old_.tensor(id).type;
    graph_.tensors.push_back(std::move(tensor));
    place->second = static_cast<TensorId>(graph_.tensors.size()) - 1;
    Node node;
    node.kind = Kind::AllToAll;
    node.inputs = {id};
    node.outputs = {place->second};
    node.scope = scope;
    node.attributes.set(Attr::Among, {Dim(static_cast<std::int64_t>(graph::Among::Expert))});
    node.attributes.set(Attr::EveryPass, {Dim(1)});
    node.attributes.set(Attr::Waiting, {Dim(static_cast<std::int64_t>(graph::Waiting::Device))});
    graph_.nodes.push_back(std::move(node));
    return place->second;
  }

  const graph::Graph& old_;
  graph::Graph graph_;
  ExpertParallel how_;
  std::vector<TensorId> parameters_;
  std::set<TensorId> away_;  // tensors that lie with the experts
  std::map<TensorId, TensorId> exchanged_;
};

}  // namespace

std::set<TensorId> expert_parameters(const graph::Graph& graph) {
  const std::vector<TensorId> parameters = copied_parameters(graph);
  std::set<TensorId> found;
  for (const Node& node : graph.nodes) {
    if (is_expert_gemm(graph, parameters, node)) found.insert(parameters[at(node.inputs[1])]);
  }
  return found;
}

std::set<std::string> expert_scopes(const graph::Graph& graph) {
  const std::vector<TensorId> parameters = copied_parameters(graph);
  std::set<std::string> found;
  for (const Node& node : graph.nodes) {
    if (is_expert_gemm(graph, parameters, node)) found.insert(node.scope);
  }
  return found;
}

graph::Graph split_experts(const graph::Graph& forward, const ExpertParallel& how) {
  return Splitting(forward, how).run();
}

void sum_experts_apart(graph::Graph& step, const Resolved& resolved) {
  if (resolved.strategy.expert == 1) return;
  const std::set<TensorId> experts = expert_parameters(step);
  std::set<TensorId> gradients;
  for (const auto& [parameter, gradient] : step.gradients) {
    if (experts.contains(parameter)) gradients.insert(gradient);
  }
  const bool replicated = first_group(graph::Among::ExpertReplicas, resolved).ranks > 1;
  std::vector<Node> nodes;
  for (Node& node : step.nodes) {
    if (node.kind != Kind::AllReduce || !exchanges_parameters(node)) {
      nodes.push_back(std::move(node));
      continue;
    }
    Node apart = node;
    const auto is_expert = [&](TensorId id) { return gradients.contains(id); };
    std::erase_if(node.inputs, is_expert);
    std::erase_if(apart.inputs, [&](TensorId id) { return !is_expert(id); });
    if (!node.inputs.empty()) nodes.push_back(std::move(node));
    if (apart.inputs.empty() || !replicated) continue;
    apart.attributes.set(Attr::Among,
                         {Dim(static_cast<std::int64_t>(graph::Among::ExpertReplicas))});
    nodes.push_back(std::move(apart));
  }
  step.nodes = std::move(nodes);
}

}  // namespace foretrain::parallel
