// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/graph_network.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <random>

namespace foretrain::learn {
namespace {

constexpr std::array<std::string_view, 4> kConvolutions{"gcn", "gin", "gat", "mpnn"};
constexpr std::array<std::string_view, 4> kReadouts{"set2set", "mean", "max", "attention"};

template <typename Enum>
std::optional<Enum> named(std::string_view name, const std::array<std::string_view, 4>& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

// Adds parameters in the order in which `Reader` below takes them.
class Maker {
 public:
  explicit Maker(std::uint64_t seed) : generator_(seed) {}

  // Uniform within 1 / sqrt(fan_in) on either side of zero.
  void add(std::string name, std::size_t rows, std::size_t columns, std::size_t fan_in) {
    Matrix matrix(rows, columns);
    const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
    for (float& value : matrix.values) {
      const double uniform = (static_cast<double>(generator_() >> 11) + 0.5) * 0x1p-53;
      value = static_cast<float>((2 * uniform - 1) * bound);
    }
    parameters_.push_back({std::move(name), std::move(matrix)});
  }
  void dense(const std::string& name, std::size_t inputs, std::size_t outputs) {
    add(name + ".weights", inputs, outputs, inputs);
    add(name + ".bias", 1, outputs, inputs);
  }
  void cell(const std::string& name, std::size_t inputs, std::size_t width, std::size_t gates) {
    add(name + ".input_weights", inputs, gates * width, width);
    add(name + ".state_weights", width, gates * width, width);
    add(name + ".input_bias", 1, gates * width, width);
    add(name + ".state_bias", 1, gates * width, width);
  }
  void convolution(const std::string& name, Convolution kind, std::size_t inputs,
                   std::size_t width) {
    dense(name, inputs, width);
    if (kind == Convolution::Gin) dense(name + ".second", width, width);
    if (kind == Convolution::Gat) {
      add(name + ".left", width, 1, width);
      add(name + ".right", width, 1, width);
    }
  }
  std::vector<NamedMatrix> take() { return std::move(parameters_); }

 private:
  std::mt19937_64 generator_;
  std::vector<NamedMatrix> parameters_;
};

// Takes parameters from the tape in their order.
class Reader {
 public:
  explicit Reader(const std::vector<Var>& parameters) : parameters_(parameters) {}

  struct Dense {
    Var weights;
    Var bias;
  };
  struct Layer {
    Dense dense;
    Dense second;
    Var left;
    Var right;
  };
  Var next() { return parameters_[place_++]; }
  Dense dense() {
    const Var weights = next();
    return {weights, next()};
  }
  Tape::Cell cell() {
    const Var input_weights = next();
    const Var state_weights = next();
    const Var input_bias = next();
    return {input_weights, state_weights, input_bias, next()};
  }
  Layer layer(Convolution kind) {
    Layer layer;
    layer.dense = dense();
    if (kind == Convolution::Gin) layer.second = dense();
    if (kind == Convolution::Gat) {
      layer.left = next();
      layer.right = next();
    }
    return layer;
  }
  bool at_end() const { return place_ == parameters_.size(); }

 private:
  const std::vector<Var>& parameters_;
  std::size_t place_ = 0;
};

Var apply(const Reader::Dense& dense, Var x, Tape& tape) {
  return tape.add_row(tape.matmul(x, dense.weights), dense.bias);
}

// One convolution with its activation.
Var convolve(Convolution kind, const Reader::Layer& layer, const Sparse& neighbours, Var x,
             Tape& tape) {
  switch (kind) {
    case Convolution::Gcn:  // Kipf, Welling, ICLR 2017
      return tape.leaky_relu(tape.add_row(
          tape.spread(neighbours, tape.matmul(x, layer.dense.weights)), layer.dense.bias));
    case Convolution::Gin: {  // Xu et al., ICLR 2019; neighbours and the node itself add up
      const Var inner = tape.leaky_relu(apply(layer.dense, tape.spread(neighbours, x), tape));
      return tape.leaky_relu(apply(layer.second, inner, tape));
    }
    case Convolution::Gat: {  // Veličković et al., ICLR 2018, one head
      const Var z = tape.matmul(x, layer.dense.weights);
      const Var attended =
          tape.attend(neighbours, z, tape.matmul(z, layer.left), tape.matmul(z, layer.right));
      return tape.leaky_relu(tape.add_row(attended, layer.dense.bias));
    }
    case Convolution::Mpnn:  // Gilmer et al., ICML 2017: a dense message from each neighbour
      return tape.spread(neighbours, tape.leaky_relu(apply(layer.dense, x, tape)));
  }
  return x;
}

Matrix zeros(std::size_t rows, std::size_t columns) { return {rows, columns}; }

// Vinyals et al., ICLR 2016: a recurrent query attends to the nodes again and again.
Var set2set(const NetworkShape& shape, const Tape::Cell& cell, const GraphBatch& batch, Var nodes,
            Tape& tape) {
  const std::size_t graphs = batch.first.size() - 1;
  Var query = tape.input(zeros(graphs, 2 * shape.width));
  Var memory = tape.input(zeros(graphs, 2 * shape.width));
  for (std::size_t step = 0; step < shape.readout_steps; ++step) {
    memory = tape.lstm(query, memory, cell);
    const Var state = tape.columns(memory, 0, shape.width);
    const Var scores = tape.segment_scores(batch.first, nodes, state);
    query = tape.concat(state, tape.segment_attention(batch.first, nodes, scores));
  }
  return query;
}

Var read_out(const NetworkShape& shape, Reader& reader, const GraphBatch& batch, Var nodes,
             Tape& tape) {
  switch (shape.readout) {
    case Readout::Set2Set:
      return set2set(shape, reader.cell(), batch, nodes, tape);
    case Readout::Mean:
      return tape.segment_mean(batch.first, nodes);
    case Readout::Max:
      return tape.segment_max(batch.first, nodes);
    case Readout::Attention: {
      const Var hidden = tape.tanh(apply(reader.dense(), nodes, tape));
      const Var scores = tape.matmul(hidden, reader.next());
      return tape.segment_attention(batch.first, nodes, scores);
    }
  }
  return nodes;
}

std::size_t readout_width(const NetworkShape& shape) {
  return (shape.readout == Readout::Set2Set ? 2 : 1) * shape.width;
}

// Of one graph, with every node its own neighbour where the convolution wants that.
using Neighbours = std::vector<std::vector<std::int32_t>>;

Neighbours neighbours_of(const GraphInput& graph, bool itself) {
  Neighbours neighbours(graph.nodes.rows);
  for (const auto& [a, b] : graph.edges) {
    if (a == b) continue;
    neighbours[static_cast<std::size_t>(a)].push_back(b);
    neighbours[static_cast<std::size_t>(b)].push_back(a);
  }
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    if (itself) neighbours[i].push_back(static_cast<std::int32_t>(i));
    std::sort(neighbours[i].begin(), neighbours[i].end());
    neighbours[i].erase(std::unique(neighbours[i].begin(), neighbours[i].end()),
                        neighbours[i].end());
  }
  return neighbours;
}

void append(const Neighbours& neighbours, Convolution convolution, std::int32_t offset,
            Sparse& all) {
  for (const std::vector<std::int32_t>& row : neighbours) {
    for (const std::int32_t j : row) {
      float weight = 1;
      if (convolution == Convolution::Gcn) {  // D^-1/2 (A + I) D^-1/2
        const auto degrees = static_cast<double>(row.size()) *
                             static_cast<double>(neighbours[static_cast<std::size_t>(j)].size());
        weight = static_cast<float>(1 / std::sqrt(degrees));
      }
      all.column.push_back(offset + j);
      all.value.push_back(weight);
    }
    all.first.push_back(static_cast<std::int32_t>(all.column.size()));
  }
}

}  // namespace

std::string_view name_of(Convolution convolution) {
  return kConvolutions.at(static_cast<std::size_t>(convolution));
}
std::string_view name_of(Readout readout) {
  return kReadouts.at(static_cast<std::size_t>(readout));
}
std::optional<Convolution> convolution_named(std::string_view name) {
  return named<Convolution>(name, kConvolutions);
}
std::optional<Readout> readout_named(std::string_view name) {
  return named<Readout>(name, kReadouts);
}

GraphNetwork make_network(const NetworkShape& shape, std::uint64_t seed) {
  Maker maker(seed);
  const std::size_t width = shape.width;
  maker.convolution("first", shape.convolution, shape.features, width);
  maker.convolution("repeated", shape.convolution, width, width);
  if (shape.copied_from) maker.convolution("copied", shape.convolution, width, width);
  if (shape.gru) maker.cell("gru", width, width, 3);
  if (shape.readout == Readout::Set2Set) maker.cell("set2set", 2 * width, width, 4);
  if (shape.readout == Readout::Attention) {
    maker.dense("attention", width, width);
    maker.add("attention.scores", width, 1, width);
  }
  maker.dense("dense1", readout_width(shape) + shape.whole_features, width);
  maker.dense("dense2", width, width);
  maker.dense("dense3", width, shape.outputs);
  return {shape, maker.take()};
}

std::size_t parameter_count(const GraphNetwork& network) {
  std::size_t count = 0;
  for (const NamedMatrix& one : network.parameters) count += one.matrix.values.size();
  return count;
}

GraphBatch make_batch(const std::vector<const GraphInput*>& graphs, Convolution convolution) {
  GraphBatch batch;
  std::size_t rows = 0;
  for (const GraphInput* graph : graphs) rows += graph->nodes.rows;
  batch.nodes = Matrix(rows, graphs.front()->nodes.columns);
  batch.whole = Matrix(graphs.size(), graphs.front()->whole.size());
  const bool itself = convolution != Convolution::Mpnn;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const GraphInput& graph = *graphs[g];
    const std::int32_t offset = batch.first.back();
    std::copy(graph.nodes.values.begin(), graph.nodes.values.end(),
              batch.nodes.row(static_cast<std::size_t>(offset)));
    std::copy(graph.whole.begin(), graph.whole.end(), batch.whole.row(g));
    append(neighbours_of(graph, itself), convolution, offset, batch.neighbours);
    batch.first.push_back(offset + static_cast<std::int32_t>(graph.nodes.rows));
  }
  return batch;
}

Var forward(const NetworkShape& shape, const std::vector<Var>& parameters, const GraphBatch& batch,
            Tape& tape) {
  Reader reader(parameters);
  const Reader::Layer first = reader.layer(shape.convolution);
  const Reader::Layer repeated = reader.layer(shape.convolution);
  const Reader::Layer copied = shape.copied_from ? reader.layer(shape.convolution) : repeated;
  const Tape::Cell gru = shape.gru ? reader.cell() : Tape::Cell{};
  Var state = convolve(shape.convolution, first, batch.neighbours, tape.input(batch.nodes), tape);
  for (std::size_t i = 1; i < shape.depth; ++i) {
    const Reader::Layer& layer = i >= shape.copied_from.value_or(shape.depth) ? copied : repeated;
    const Var message = convolve(shape.convolution, layer, batch.neighbours, state, tape);
    state = shape.gru ? tape.gru(state, message, gru) : message;
  }
  Var result = read_out(shape, reader, batch, state, tape);
  if (shape.whole_features > 0) result = tape.concat(result, tape.input(batch.whole));
  result = tape.leaky_relu(apply(reader.dense(), result, tape));
  result = tape.leaky_relu(apply(reader.dense(), result, tape));
  result = apply(reader.dense(), result, tape);
  assert(reader.at_end());
  return result;
}

Matrix evaluate(const GraphNetwork& network, const std::vector<const GraphInput*>& graphs) {
  Tape tape(false);
  std::vector<Var> parameters;
  for (const NamedMatrix& one : network.parameters) parameters.push_back(tape.input(one.matrix));
  const GraphBatch batch = make_batch(graphs, network.shape.convolution);
  return tape.value(forward(network.shape, parameters, batch, tape));
}

}  // namespace foretrain::learn
