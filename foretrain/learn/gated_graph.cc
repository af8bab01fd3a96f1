// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/gated_graph.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/learn/detail/kernels.h"

namespace foretrain::learn {
namespace {

constexpr double kNormFloor = 1e-5;  // added to a variance: PyTorch's default

// y = x W + b.
template <typename Layer>
void apply(const Layer& layer, const float* x, float* y) {
  std::copy(layer.bias.begin(), layer.bias.end(), y);
  row_times(x, layer.weights, true, y);
}

void normalise(const Matrix& gain, const Matrix& bias, std::size_t width, float* row) {
  double mean = 0;
  for (std::size_t i = 0; i < width; ++i) mean += row[i];
  mean /= static_cast<double>(width);
  double variance = 0;
  for (std::size_t i = 0; i < width; ++i) variance += (row[i] - mean) * (row[i] - mean);
  const double scale = 1 / std::sqrt(variance / static_cast<double>(width) + kNormFloor);
  for (std::size_t i = 0; i < width; ++i) {
    row[i] = static_cast<float>((row[i] - mean) * scale * gain.values[i]) + bias.values[i];
  }
}

}  // namespace

std::vector<ParameterSize> parameter_sizes(const GatedGraphShape& shape) {
  const std::size_t width = shape.width;
  std::vector<ParameterSize> sizes{{"features.mean", 1, shape.features, 0},
                                   {"features.deviation", 1, shape.features, 0},
                                   {"kinds", shape.kinds, width, 0}};
  const auto add_dense = [&](const std::string& name, std::size_t inputs, std::size_t outputs) {
    sizes.push_back({name + ".weights", inputs, outputs, inputs});
    sizes.push_back({name + ".bias", 1, outputs, inputs});
  };
  add_dense("sizes", shape.features, width);
  for (const char* name : {"near", "far"}) {
    add_dense(std::string(name) + ".first", width, shape.message);
    add_dense(std::string(name) + ".second", shape.message, width);
  }
  add_dense("gru.input", width, 3 * width);
  add_dense("gru.state", width, 3 * width);
  sizes.push_back({"norm.gain", 1, width, 0});
  sizes.push_back({"norm.bias", 1, width, 0});
  add_dense("totals", width + shape.features, width);
  return sizes;
}

GatedGraphEvaluator::GatedGraphEvaluator(const GatedGraph& network) : network_(network) {
  sizes_ = dense("sizes");
  totals_ = dense("totals");
  gru_input_ = dense("gru.input");
  gru_state_ = dense("gru.state");
  near_ = {dense("near.first"), dense("near.second")};
  far_ = {dense("far.first"), dense("far.second")};
}

const Matrix& GatedGraphEvaluator::parameter(const std::string& name) const {
  const auto found = std::find_if(network_.parameters.begin(), network_.parameters.end(),
                                  [&](const NamedMatrix& one) { return one.name == name; });
  assert(found != network_.parameters.end());
  return found->matrix;
}

GatedGraphEvaluator::Dense GatedGraphEvaluator::dense(const std::string& name) const {
  const Matrix& weights = parameter(name + ".weights");
  Dense made;
  pack({weights.values.data(), weights.columns, Layout::Plain}, weights.rows, weights.columns,
       made.weights);
  made.bias = parameter(name + ".bias").values;
  return made;
}

void GatedGraphEvaluator::check(const DirectedInput& graph) const {
  const std::size_t count = graph.kinds.size();
  const auto bad = [](const std::string& what) {
    throw Error(ErrorKind::BadInput, "a graph for the gated network: " + what);
  };
  if (count == 0) bad("it has no nodes");
  if (graph.features.size() != count * network_.shape.features) bad("its features are others");
  for (const std::int32_t kind : graph.kinds) {
    if (kind < 0 || static_cast<std::size_t>(kind) >= network_.shape.kinds) {
      bad("a kind that the network has not");
    }
  }
  for (const ReachEdge& edge : graph.edges) {
    if (edge.from < 0 || edge.from >= edge.to || static_cast<std::size_t>(edge.to) >= count ||
        edge.steps < 1) {
      bad("an edge that does not lead to a later node");
    }
  }
}

Matrix GatedGraphEvaluator::standardised(const DirectedInput& graph) const {
  const std::vector<float>& mean = parameter("features.mean").values;
  const std::vector<float>& deviation = parameter("features.deviation").values;
  Matrix made(graph.kinds.size(), mean.size());
  for (std::size_t i = 0; i < graph.features.size(); ++i) {
    const std::size_t column = i % mean.size();
    made.values[i] = static_cast<float>((graph.features[i] - mean[column]) / deviation[column]);
  }
  return made;
}

GatedGraphEvaluator::Incoming GatedGraphEvaluator::incoming(const DirectedInput& graph,
                                                            bool back) const {
  const auto count = static_cast<std::int32_t>(graph.kinds.size());
  Incoming made;
  made.first.assign(graph.kinds.size() + 1, 0);
  const auto target = [&](const ReachEdge& edge) {
    return static_cast<std::size_t>(back ? edge.from : edge.to);
  };
  for (const ReachEdge& edge : graph.edges) ++made.first[target(edge) + 1];
  for (std::size_t i = 1; i < made.first.size(); ++i) made.first[i] += made.first[i - 1];
  std::vector<std::int32_t> next(made.first.begin(), made.first.end() - 1);
  made.row.resize(graph.edges.size());
  made.weight.resize(graph.edges.size());
  for (const ReachEdge& edge : graph.edges) {
    const auto place = static_cast<std::size_t>(next[target(edge)]++);
    made.row[place] = (back ? edge.to : edge.from) + (edge.steps > 1 ? count : 0);
    made.weight[place] = 1.0F / static_cast<float>(edge.steps);
  }
  return made;
}

void GatedGraphEvaluator::send(const Message& message, const float* state, float* to) {
  std::vector<float> hidden(network_.shape.message);
  apply(message.first, state, hidden.data());
  for (float& value : hidden) value = std::max(value, 0.0F);
  apply(message.second, hidden.data(), to);
}

void GatedGraphEvaluator::sweep(const DirectedInput& graph, bool back, Matrix& states) {
  const std::size_t count = states.rows;
  const std::size_t width = states.columns;
  const Incoming edges = incoming(graph, back);
  Matrix messages(2 * count, width);  // of neighbours, then of virtual edges
  std::vector<float> received(width);
  std::vector<float> gates(3 * width);
  std::vector<float> sums(3 * width);
  std::vector<float> recurrent(width);
  std::vector<float> updated(width);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t node = back ? count - 1 - i : i;
    const auto begin = static_cast<std::size_t>(edges.first[node]);
    const auto end = static_cast<std::size_t>(edges.first[node + 1]);
    kernels().sparse_row({width, edges.row.data() + begin, edges.weight.data() + begin, end - begin,
                          messages.values.data(), nullptr, 1, received.data()});
    apply(gru_input_, received.data(), gates.data());
    apply(gru_state_, states.row(node), sums.data());
    kernels().gru(
        {width, states.row(node), sums.data(), gates.data(), recurrent.data(), updated.data()});
    std::copy(updated.begin(), updated.end(), states.row(node));
    send(near_, states.row(node), messages.row(node));
    send(far_, states.row(node), messages.row(count + node));
  }
}

Matrix GatedGraphEvaluator::states(const DirectedInput& graph) {
  check(graph);
  const Matrix features = standardised(graph);
  const Matrix& kinds = parameter("kinds");
  Matrix made(graph.kinds.size(), network_.shape.width);
  for (std::size_t i = 0; i < made.rows; ++i) {
    apply(sizes_, features.row(i), made.row(i));
    kernels().add_scaled(made.columns, 1, kinds.row(static_cast<std::size_t>(graph.kinds[i])),
                         made.row(i));
  }
  for (const bool back : {false, true}) sweep(graph, back, made);
  const Matrix& gain = parameter("norm.gain");
  const Matrix& bias = parameter("norm.bias");
  for (std::size_t i = 0; i < made.rows; ++i) normalise(gain, bias, made.columns, made.row(i));
  return made;
}

std::vector<float> GatedGraphEvaluator::embed(const DirectedInput& graph) {
  const Matrix h = states(graph);
  const Matrix features = standardised(graph);
  const std::size_t width = h.columns;
  Matrix logs(h.rows, width);
  std::vector<float> joined(width + features.columns);
  std::vector<double> mean(width);
  std::vector<float> most(width, -INFINITY);
  for (std::size_t i = 0; i < h.rows; ++i) {
    std::copy_n(h.row(i), width, joined.begin());
    std::copy_n(features.row(i), features.columns, joined.begin() + static_cast<int>(width));
    apply(totals_, joined.data(), logs.row(i));
    for (std::size_t j = 0; j < width; ++j) {
      mean[j] += h.at(i, j);
      most[j] = std::max(most[j], logs.at(i, j));
    }
  }
  std::vector<float> embedding(2 * width);
  for (std::size_t j = 0; j < width; ++j) {
    double sum = 0;
    for (std::size_t i = 0; i < h.rows; ++i) sum += std::exp(double{logs.at(i, j)} - most[j]);
    embedding[j] = static_cast<float>(mean[j] / static_cast<double>(h.rows));
    embedding[width + j] = static_cast<float>(most[j] + std::log(sum));
  }
  return embedding;
}

}  // namespace foretrain::learn
