// SPDX-License-Identifier: Apache-2.0
// A network over graphs: convolutions with a recurrent unit, a readout, dense layers. The design of
// Driple's inspector (SIGMETRICS 2022), and its relatives that were compared there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foretrain/learn/tape.h"

namespace foretrain::learn {

enum class Convolution { Gcn, Gin, Gat, Mpnn };
enum class Readout { Set2Set, Mean, Max, Attention };
std::string_view name_of(Convolution convolution);
std::string_view name_of(Readout readout);
std::optional<Convolution> convolution_named(std::string_view name);
std::optional<Readout> readout_named(std::string_view name);

// A graph without direction: features of its nodes, a row each, and pairs of nodes.
struct GraphInput {
  Matrix nodes{};
  std::vector<std::pair<std::int32_t, std::int32_t>> edges{};
  std::vector<float> whole{};  // features of the whole graph, beside the readout
};

struct NetworkShape {
  Convolution convolution = Convolution::Gcn;
  Readout readout = Readout::Set2Set;
  bool gru = true;           // after each repetition
  std::size_t features = 3;  // of a node
  std::size_t whole_features = 0;
  std::size_t width = 64;
  std::size_t depth = 50;  // convolutions in all: one from the features, the rest repeat one
  std::size_t readout_steps = 100;  // of Set2Set
  std::size_t outputs = 12;
  // Repetitions from here on use a copy of the repeated convolution, which transfer trains; absent:
  // there is none.
  std::optional<std::size_t> copied_from{};
};

struct NamedMatrix {
  std::string name;  // "first.weights", "repeated.bias", "gru.state_weights", "dense2.weights", ...
  Matrix matrix;
};

struct GraphNetwork {
  NetworkShape shape{};
  std::vector<NamedMatrix> parameters{};
};

// Parameters drawn as PyTorch draws them by default, from a seed.
GraphNetwork make_network(const NetworkShape& shape, std::uint64_t seed);
std::size_t parameter_count(const GraphNetwork& network);

// Graphs in one, with what the convolution needs to know of neighbours.
struct GraphBatch {
  Matrix nodes{};
  Segments first{0};
  Sparse neighbours{};
  Matrix whole{};
};
GraphBatch make_batch(const std::vector<const GraphInput*>& graphs, Convolution convolution);

// A row of outputs for each graph. `parameters` are those of the network on the tape, in order.
Var forward(const NetworkShape& shape, const std::vector<Var>& parameters, const GraphBatch& batch,
            Tape& tape);

// The outputs for each graph, without gradients.
Matrix evaluate(const GraphNetwork& network, const std::vector<const GraphInput*>& graphs);

}  // namespace foretrain::learn
