// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/graph_network.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <random>
#include <thread>

#include "foretrain/base/error.h"
#include "foretrain/base/parallel_for.h"

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
  void add(std::string name, std::size_t rows, std::size_t columns, std::size_t fan_in) {
    sizes_.push_back({std::move(name), rows, columns, fan_in});
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
  std::vector<ParameterSize> take() { return std::move(sizes_); }

 private:
  std::vector<ParameterSize> sizes_;
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
      return tape.gcn(neighbours, x, layer.dense.weights, layer.dense.bias);
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

Var read_out(const NetworkShape& shape, Reader& reader, const GraphBatch& batch, Var nodes,
             Tape& tape) {
  switch (shape.readout) {
    case Readout::Set2Set:
      return tape.set2set(batch.first, nodes, reader.cell(), shape.readout_steps);
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

void check(const GraphInput& graph, const NetworkShape& shape) {
  const auto has = [&](std::int32_t node) {
    return node >= 0 && static_cast<std::size_t>(node) < graph.nodes.rows;
  };
  if (graph.nodes.rows == 0) throw Error(ErrorKind::BadInput, "a graph without nodes");
  if (graph.nodes.columns != shape.features || graph.whole.size() != shape.whole_features) {
    throw Error(ErrorKind::BadInput, "a graph with other features than the network was trained on");
  }
  for (const auto& [a, b] : graph.edges) {
    if (!has(a) || !has(b)) throw Error(ErrorKind::BadInput, "an edge to a node that is not there");
  }
}

}  // namespace

NetworkShape driple_shape(std::size_t groups) {
  NetworkShape shape;
  shape.depth = std::max<std::size_t>(1, groups / 2);
  shape.readout_steps = groups;
  shape.leaky_outputs = true;
  return shape;
}

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

std::vector<ParameterSize> parameter_sizes(const NetworkShape& shape) {
  Maker maker;
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
  return maker.take();
}

// Uniform within 1 / sqrt(fan_in) on either side of zero.
GraphNetwork make_network(const NetworkShape& shape, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  GraphNetwork network{shape, {}};
  for (ParameterSize& size : parameter_sizes(shape)) {
    Matrix matrix(size.rows, size.columns);
    const double bound = 1 / std::sqrt(static_cast<double>(size.fan_in));
    for (float& value : matrix.values) {
      const double uniform = (static_cast<double>(generator() >> 11) + 0.5) * 0x1p-53;
      value = static_cast<float>((2 * uniform - 1) * bound);
    }
    network.parameters.push_back({std::move(size.name), std::move(matrix)});
  }
  return network;
}

std::size_t parameter_count(const GraphNetwork& network) {
  std::size_t count = 0;
  for (const NamedMatrix& one : network.parameters) count += one.matrix.values.size();
  return count;
}

Neighbours neighbours_of(Convolution convolution) {
  if (convolution == Convolution::Gcn) return Neighbours::Normalised;
  return convolution == Convolution::Mpnn ? Neighbours::Plain : Neighbours::WithSelf;
}

Var forward(const NetworkShape& shape, const std::vector<Var>& parameters, const GraphBatch& batch,
            Tape& tape) {
  Reader reader(parameters);
  const Reader::Layer first = reader.layer(shape.convolution);
  const Reader::Layer repeated = reader.layer(shape.convolution);
  const Reader::Layer copied = shape.copied_from ? reader.layer(shape.convolution) : repeated;
  const Tape::Cell gru = shape.gru ? reader.cell() : Tape::Cell{};
  Var state = tape.data(batch.nodes);
  for (std::size_t i = 0; i < shape.depth; ++i) {
    const Reader::Layer& again = i >= shape.copied_from.value_or(shape.depth) ? copied : repeated;
    const Var before = state;
    state = convolve(shape.convolution, i == 0 ? first : again, batch.neighbours, before, tape);
    if (shape.gru && tape.value(before).columns <= shape.width) {
      const Var message = state;
      state = tape.gru(before, message, gru);
      tape.drop(message);
    }
    tape.drop(before);
  }
  Var result = read_out(shape, reader, batch, state, tape);
  if (shape.whole_features > 0) result = tape.concat(result, tape.data(batch.whole));
  result = tape.leaky_relu(apply(reader.dense(), result, tape), 0);
  result = tape.leaky_relu(apply(reader.dense(), result, tape), 0);
  result = apply(reader.dense(), result, tape);
  assert(reader.at_end());
  return shape.leaky_outputs ? tape.leaky_relu(result) : result;
}

Evaluator::Evaluator(const GraphNetwork& network) : shape_(network.shape) {
  for (const NamedMatrix& one : network.parameters) parameters_.push_back(tape_.data(one.matrix));
  tape_.keep();
}

Matrix Evaluator::evaluate(std::span<const GraphInput* const> graphs) {
  for (const GraphInput* graph : graphs) check(*graph, shape_);
  Matrix outputs(graphs.size(), shape_.outputs);
  auto to = outputs.values.begin();
  while (!graphs.empty()) {
    const std::size_t count = graphs_at_once(graphs);
    const GraphBatch batch = make_batch(graphs.first(count), neighbours_of(shape_.convolution));
    const Matrix& result = tape_.value(forward(shape_, parameters_, batch, tape_));
    to = std::copy(result.values.begin(), result.values.end(), to);
    tape_.rewind();
    graphs = graphs.subspan(count);
  }
  return outputs;
}

Matrix evaluate(const GraphNetwork& network, const std::vector<const GraphInput*>& graphs,
                int threads) {
  const std::size_t workers = std::min<std::size_t>(
      graphs.size(), threads > 0 ? static_cast<std::size_t>(threads)
                                 : std::max(1U, std::thread::hardware_concurrency()));
  Matrix outputs(graphs.size(), network.shape.outputs);
  parallel_for(workers, threads, [&](std::size_t worker) {
    const std::size_t from = graphs.size() * worker / workers;
    const std::size_t to = graphs.size() * (worker + 1) / workers;
    const Matrix some = Evaluator(network).evaluate({graphs.data() + from, to - from});
    std::copy(some.values.begin(), some.values.end(), outputs.row(from));
  });
  return outputs;
}

}  // namespace foretrain::learn
