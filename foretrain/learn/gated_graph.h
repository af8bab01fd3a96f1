// SPDX-License-Identifier: Apache-2.0
// A gated graph network over directed graphs without circles: every node's state is updated by a
// GRU in a sweep from sources to sinks and in one back, from messages of its neighbours and, over
// virtual edges, of nodes further away. The encoder of a graph hypernetwork (GHN-2: Knyazev et al.,
// NeurIPS 2021).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "foretrain/learn/gemm.h"
#include "foretrain/learn/graph_network.h"
#include "foretrain/learn/matrix.h"

namespace foretrain::learn {

// `from` reaches `to` in so many steps; 1: a neighbour. Nodes lie in topological order, so that
// `from` is below `to`.
struct ReachEdge {
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::int32_t steps = 1;
};

struct DirectedInput {
  std::vector<std::int32_t> kinds;  // of each node
  std::vector<double> features;     // row by row
  std::vector<ReachEdge> edges;
};

struct GatedGraphShape {
  std::size_t kinds = 1;
  std::size_t features = 1;
  std::size_t width = 32;    // of a node's state
  std::size_t message = 16;  // hidden width of the networks that make messages
};

// Of `parameters` the order is that of `parameter_sizes`.
struct GatedGraph {
  GatedGraphShape shape{};
  std::vector<NamedMatrix> parameters{};
};
std::vector<ParameterSize> parameter_sizes(const GatedGraphShape& shape);

// Evaluates graph after graph with what was prepared once. One thread at a time may use it.
//
//   s_v = kinds[k_v] + x_v S          x: features, less their mean, over their deviation
//   m_v = sum over neighbours u of near(s_u) + sum over virtual edges of far(s_u) / steps
//   s_v = GRU(m_v, s_v)               from first to last node, then from last to first
//   h_v = layer norm of s_v
//
// near and far: a dense layer, ReLU, a dense layer.
class GatedGraphEvaluator {
 public:
  explicit GatedGraphEvaluator(const GatedGraph& network);

  // h, a row for each node. Throws Error(BadInput) for a graph without nodes, with other features
  // than the network's, a kind that it has not or an edge that is not from a node to a later one.
  Matrix states(const DirectedInput& graph);

  // Twice the width: the mean of h over the nodes, then log(sum over nodes of exp(T (h, x))), T
  // being linear: what adds up over nodes, on a logarithmic scale.
  std::vector<float> embed(const DirectedInput& graph);

 private:
  struct Dense {
    PackedMatrix weights;
    std::vector<float> bias;
  };
  struct Message {
    Dense first;
    Dense second;
  };
  // Of each node the rows of messages that reach it, with their weights.
  struct Incoming {
    std::vector<std::int32_t> first;
    std::vector<std::int32_t> row;
    std::vector<float> weight;
  };

  Dense dense(const std::string& name) const;
  const Matrix& parameter(const std::string& name) const;
  void check(const DirectedInput& graph) const;
  Matrix standardised(const DirectedInput& graph) const;
  Incoming incoming(const DirectedInput& graph, bool back) const;
  void sweep(const DirectedInput& graph, bool back, Matrix& states);
  void send(const Message& message, const float* state, float* to);

  GatedGraph network_;
  Dense sizes_, totals_, gru_input_, gru_state_;
  Message near_, far_;
};

}  // namespace foretrain::learn
