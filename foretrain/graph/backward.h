// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "foretrain/graph/graph.h"
#include "foretrain/graph/optimizer.h"
#include "foretrain/graph/recompute.h"

namespace foretrain::graph {

// What happens to gradients between steps.
enum class GradientHandling {
  Fresh,      // dropped after the update; the first gradient of the next step takes its place
  Accumulate  // zeroed, then added to
};

// Appends the backward pass: each node's true gradient operators in reverse order, sums where
// a tensor has several consumers, gradients only of what leads to a trainable parameter.
// A forward tensor that a gradient operator takes is what autograd saves. Without a loss the
// gradient starts at the outputs. What is recomputed runs again in the backward pass, and a note
// says so. Throws Error(BadInput) where a backward pass is there already.
Graph backward(Graph graph, GradientHandling handling = GradientHandling::Fresh,
               const Recomputation& recomputation = {});

// Whether each tensor of a forward pass leads back to a trainable parameter, here or in the stage
// that it was received from.
std::vector<bool> needed_gradients(const Graph& graph);

// The type of an optimizer's states: fp32 whatever the parameters are, or that of each parameter
// (PyTorch's optimizers).
enum class StateType { Fp32, OfParameter };

// Appends the optimizer's update of every parameter that has a gradient, as one node whose
// inputs are the parameters, then their gradients; states become tensors of the graph.
Graph update(Graph graph, Optimizer optimizer, StateType states = StateType::Fp32);

// The gradient that `backward` gave to each parameter: (parameter, gradient) in the order in
// which backward completes them.
struct ParameterGradient {
  TensorId parameter;
  TensorId gradient;
  NodeId ready;  // the node after which it is complete
};
std::vector<ParameterGradient> parameter_gradients(const Graph& step);

// What a gradient rule sees of its node and how it adds to the graph.
class GradientContext {
 public:
  GradientContext(Graph& graph, Node node, const std::vector<bool>& needed,
                  std::vector<TensorId>& gradients);

  const Node& node() const { return node_; }
  TensorId in(int i) const { return node_.inputs[static_cast<std::size_t>(i)]; }
  TensorId out(int i) const { return node_.outputs[static_cast<std::size_t>(i)]; }
  int inputs() const { return static_cast<int>(node_.inputs.size()); }
  int outputs() const { return static_cast<int>(node_.outputs.size()); }
  const Graph& graph() const { return graph_; }
  const Shape& shape(TensorId id) const { return graph_.tensor(id).shape; }

  bool needs(int i) const;             // whether input i wants a gradient
  bool arrived(int i) const;           // whether output i has one
  TensorId gradient(int i = 0) const;  // of output i

  // Adds a backward node whose outputs look like the tensors `like`.
  std::vector<TensorId> emit(Kind kind, std::vector<TensorId> inputs,
                             const std::vector<TensorId>& like, Attributes attributes = {});
  TensorId emit_one(Kind kind, std::vector<TensorId> inputs, TensorId like,
                    Attributes attributes = {});
  // Adds a backward node whose output shape is inferred.
  TensorId infer(Kind kind, std::vector<TensorId> inputs, Attributes attributes = {});

  // `gradient` is (part of) the gradient of input i: summed down to its shape where it was
  // broadcast, cast to its type, added to what other consumers gave.
  void give(int i, TensorId gradient);

 private:
  Graph& graph_;
  Node node_;
  const std::vector<bool>& needed_;
  std::vector<TensorId>& gradients_;  // of each tensor; kNone where there is none yet
};

}  // namespace foretrain::graph
