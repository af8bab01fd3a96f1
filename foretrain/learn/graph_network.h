// SPDX-License-Identifier: Apache-2.0
// A network over graphs: convolutions with a recurrent unit, a readout, dense layers. The design of
// Driple's inspector (SIGMETRICS 2022), and its relatives that were compared there.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/learn/graph_batch.h"
#include "foretrain/learn/tape.h"

namespace foretrain::learn {

enum class Convolution { Gcn, Gin, Gat, Mpnn };
enum class Readout { Set2Set, Mean, Max, Attention };
std::string_view name_of(Convolution convolution);
std::string_view name_of(Readout readout);
std::optional<Convolution> convolution_named(std::string_view name);
std::optional<Readout> readout_named(std::string_view name);

struct NetworkShape {
  Convolution convolution = Convolution::Gcn;
  Readout readout = Readout::Set2Set;
  // After each convolution, one for all: the state before is its input, what the convolution gave
  // its hidden state. Features count as the state before the first one, filled up with zeros; where
  // they are more than the width, the first convolution goes without.
  bool gru = true;
  std::size_t features = 3;  // of a node
  std::size_t whole_features = 0;
  std::size_t width = 64;
  std::size_t depth = 50;  // convolutions in all: one from the features, the rest repeat one
  std::size_t readout_steps = 100;  // of Set2Set; 0: as many as the graph has nodes
  std::size_t outputs = 12;
  bool leaky_outputs = false;  // a leaky ReLU at the end: for targets that are not negative
  // Repetitions from here on use a copy of the repeated convolution, which transfer trains; absent:
  // there is none.
  std::optional<std::size_t> copied_from{};
};

// The network as Driple released it, for graphs of so many groups: half as many convolutions and as
// many steps of Set2Set; 92,236 parameters.
NetworkShape driple_shape(std::size_t groups = 100);

struct NamedMatrix {
  std::string name;  // "first.weights", "repeated.bias", "gru.state_weights", "dense2.weights", ...
  Matrix matrix;
};

struct GraphNetwork {
  NetworkShape shape{};
  std::vector<NamedMatrix> parameters{};
};

// The name and size of every parameter of such a network, in order.
struct ParameterSize {
  std::string name;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t fan_in = 0;  // inputs of the sum that it takes part in
};
std::vector<ParameterSize> parameter_sizes(const NetworkShape& shape);

// Parameters drawn as PyTorch draws them by default, from a seed.
GraphNetwork make_network(const NetworkShape& shape, std::uint64_t seed);
std::size_t parameter_count(const GraphNetwork& network);

// Which neighbours a convolution wants in a batch.
Neighbours neighbours_of(Convolution convolution);

// A row of outputs for each graph. `parameters` are those of the network on the tape, in order.
Var forward(const NetworkShape& shape, const std::vector<Var>& parameters, const GraphBatch& batch,
            Tape& tape);

// Evaluates graphs without gradients, call after call, with what was prepared once. One thread at a
// time may use it.
class Evaluator {
 public:
  explicit Evaluator(const GraphNetwork& network);
  // The outputs for each graph, a row each. Their bits do not depend on what graphs stand beside.
  // Throws Error(BadInput) for a graph without nodes, with other features than the network's, or
  // with an edge to a node that it has not.
  Matrix evaluate(std::span<const GraphInput* const> graphs);

 private:
  NetworkShape shape_;
  Tape tape_{false};
  std::vector<Var> parameters_{};
};

// The same, once, on so many threads (0: one per core); the bits do not depend on them.
Matrix evaluate(const GraphNetwork& network, const std::vector<const GraphInput*>& graphs,
                int threads = 1);

}  // namespace foretrain::learn
