// SPDX-License-Identifier: Apache-2.0
// Set2Set as one operation. A step is a few products of one row; what the gradients of weights and
// nodes need is collected over the steps and multiplied once.
#include <algorithm>
#include <span>

#include "foretrain/learn/detail/kernels.h"
#include "foretrain/learn/tape.h"
#include "foretrain/learn/vector_math.h"

namespace foretrain::learn {
namespace {

// The query is both the first half of the LSTM's input and its state, so that their weights add
// up: [query, read] (W + [U, 0]).
struct Weights {
  Matrix sum;
  std::vector<float> bias;
};

Weights weights_of(const Matrix& input, const Matrix& state, const std::vector<float>& input_bias,
                   const std::vector<float>& state_bias) {
  Weights weights{input, input_bias};
  kernels().add_scaled(state.values.size(), 1, state.values.data(), weights.sum.values.data());
  kernels().add_scaled(state_bias.size(), 1, state_bias.data(), weights.bias.data());
  return weights;
}

PackedMatrix packed_of(const Matrix& matrix, Layout layout) {
  PackedMatrix packed;
  const bool plain = layout == Layout::Plain;
  pack({matrix.values.data(), matrix.columns, layout}, plain ? matrix.rows : matrix.columns,
       plain ? matrix.columns : matrix.rows, packed);
  return packed;
}

// The nodes of one segment as right factors: rows weighted (plain), rows against a query
// (transposed).
struct Nodes {
  PackedMatrix plain;
  PackedMatrix transposed;
};

Nodes nodes_of(const Matrix& all, const Segments& segments, std::size_t s) {
  const auto from = static_cast<std::size_t>(segments[s]);
  const auto count = static_cast<std::size_t>(segments[s + 1]) - from;
  Nodes nodes;
  pack({all.row(from), all.columns, Layout::Plain}, count, all.columns, nodes.plain);
  pack({all.row(from), all.columns, Layout::Transposed}, all.columns, count, nodes.transposed);
  return nodes;
}

// i, f, o = sigmoid, g = tanh of the sums in `gates`, which become the gates; c' = f c + i g,
// h = o tanh(c'). A row of contents holds c and tanh(c).
void lstm(std::size_t width, float* gates, const float* before, float* after, float* h) {
  sigmoid_all({gates, 2 * width});
  tanh_all({gates + 2 * width, width});
  sigmoid_all({gates + 3 * width, width});
  for (std::size_t j = 0; j < width; ++j) {
    after[j] = gates[width + j] * before[j] + gates[j] * gates[2 * width + j];
    after[width + j] = after[j];
  }
  tanh_all({after + width, width});
  for (std::size_t j = 0; j < width; ++j) h[j] = gates[3 * width + j] * after[width + j];
}

// From the gradients of h and of c' (in to_content) to those of the gates' sums and of c.
void lstm_gradient(std::size_t width, const float* gates, const float* before, const float* after,
                   const float* to_h, float* to_content, float* to_gates) {
  for (std::size_t j = 0; j < width; ++j) {
    const float in = gates[j];
    const float forget = gates[width + j];
    const float fresh = gates[2 * width + j];
    const float out = gates[3 * width + j];
    const float shown = after[width + j];
    const float to_c = to_content[j] + to_h[j] * out * (1 - shown * shown);
    to_gates[j] = to_c * fresh * in * (1 - in);
    to_gates[width + j] = to_c * before[j] * forget * (1 - forget);
    to_gates[2 * width + j] = to_c * in * (1 - fresh * fresh);
    to_gates[3 * width + j] = to_h[j] * shown * out * (1 - out);
    to_content[j] = to_c * forget;
  }
}

// What one segment went through, a row per step: the LSTM's inputs [query, read] (the last row is
// the answer), its gates, its contents, and the shares of the segment's nodes.
struct Steps {
  Matrix& queries;
  Matrix& gates;
  Matrix& contents;
  Matrix& shares;
};

void run(const PackedMatrix& weights, const std::vector<float>& bias, const Nodes& nodes,
         std::size_t width, Steps& steps) {
  std::fill_n(steps.queries.row(0), 2 * width, 0.0F);
  std::fill_n(steps.contents.row(0), 2 * width, 0.0F);
  for (std::size_t t = 0; t < steps.gates.rows; ++t) {
    float* next = steps.queries.row(t + 1);
    float* shares = steps.shares.row(t);
    std::copy(bias.begin(), bias.end(), steps.gates.row(t));
    row_times(steps.queries.row(t), weights, true, steps.gates.row(t));
    lstm(width, steps.gates.row(t), steps.contents.row(t), steps.contents.row(t + 1), next);
    row_times(next, nodes.transposed, false, shares);
    softmax_all({shares, steps.shares.columns});
    row_times(shares, nodes.plain, false, next + width);
  }
}

// Gradients, a row per step: of the gates' sums, of what was read, of the nodes' scores.
struct StepGradients {
  Matrix& gates;
  Matrix& reads;
  Matrix& scores;
};

void run_back(const PackedMatrix& weights, const Nodes& nodes, std::size_t width,
              const float* change, const Steps& steps, StepGradients& to) {
  std::vector<float> to_query(change, change + 2 * width);
  std::vector<float> to_content(width);
  for (std::size_t t = steps.gates.rows; t-- > 0;) {
    float* scores = to.scores.row(t);
    const std::size_t count = steps.shares.columns;
    std::copy_n(to_query.data() + width, width, to.reads.row(t));
    row_times(to.reads.row(t), nodes.transposed, false, scores);
    softmax_gradient({steps.shares.row(t), count}, {scores, count});
    row_times(scores, nodes.plain, true, to_query.data());
    lstm_gradient(width, steps.gates.row(t), steps.contents.row(t), steps.contents.row(t + 1),
                  to_query.data(), to_content.data(), to.gates.row(t));
    row_times(to.gates.row(t), weights, false, to_query.data());
  }
}

// Of one segment's nodes: by how they were weighted, and by how they answered the queries.
void add_to_nodes(std::size_t width, const Steps& steps, const StepGradients& to, float* sum) {
  const GemmShape shape{steps.shares.columns, width, steps.gates.rows};
  const auto down = [](const Matrix& m) {
    return Factor{m.values.data(), m.columns, Layout::Transposed};
  };
  gemm(shape, down(steps.shares), Factor{to.reads.values.data(), width}, true, sum, width);
  gemm(shape, down(to.scores), Factor{steps.queries.row(1), 2 * width}, true, sum, width);
}

}  // namespace

Var Tape::set2set(const Segments& nodes, Var a, const Cell& cell, std::size_t steps) {
  const std::size_t width = value(a).columns;
  const std::size_t segments = nodes.size() - 1;
  const Weights weights = weights_of(value(cell.input_weights), value(cell.state_weights),
                                     value(cell.input_bias).values, value(cell.state_bias).values);
  const PackedMatrix factor = packed_of(weights.sum, Layout::Plain);
  Matrix result = take(segments, 2 * width);
  const std::size_t first_saved = values_.size();  // four matrices for each segment
  for (std::size_t s = 0; s < segments; ++s) {
    const auto count = static_cast<std::size_t>(nodes[s + 1] - nodes[s]);
    const std::size_t asked = steps > 0 ? steps : count;
    Matrix queries = take(asked + 1, 2 * width);
    Matrix gates = take(asked, 4 * width);
    Matrix contents = take(asked + 1, 2 * width);
    Matrix shares = take(asked, count);
    Steps all{queries, gates, contents, shares};
    run(factor, weights.bias, nodes_of(value(a), nodes, s), width, all);
    std::copy_n(queries.row(asked), 2 * width, result.row(s));
    for (Matrix* one : {&queries, &gates, &contents, &shares}) save(std::move(*one));
  }
  return push(std::move(result),
              {a, cell.input_weights, cell.state_weights, cell.input_bias, cell.state_bias},
              [=, &nodes](Tape& tape, const Matrix& g) {
                tape.set2set_gradient(nodes, a, cell, first_saved, g);
              });
}

void Tape::set2set_gradient(const Segments& nodes, Var a, const Cell& cell, std::size_t first_saved,
                            const Matrix& g) {
  const std::size_t width = value(a).columns;
  const Matrix weights =
      weights_of(value(cell.input_weights), value(cell.state_weights), {}, {}).sum;
  const PackedMatrix factor = packed_of(weights, Layout::Transposed);
  Matrix to_weights(weights.rows, weights.columns);
  for (std::size_t s = 0; s < g.rows; ++s) {
    Matrix* saved = &values_[first_saved + 4 * s];
    const Steps steps{saved[0], saved[1], saved[2], saved[3]};
    Matrix to_gates = take(steps.gates.rows, 4 * width);
    Matrix to_reads = take(steps.gates.rows, width);
    Matrix to_scores = take(steps.gates.rows, steps.shares.columns);
    StepGradients to{to_gates, to_reads, to_scores};
    run_back(factor, nodes_of(value(a), nodes, s), width, g.row(s), steps, to);
    if (wanted(a)) {
      add_to_nodes(width, steps, to, sum(a).row(static_cast<std::size_t>(nodes[s])));
    }
    gemm({2 * width, 4 * width, to_gates.rows},
         {steps.queries.values.data(), 2 * width, Layout::Transposed},
         Factor{to_gates.values.data(), 4 * width}, true, to_weights.values.data(), 4 * width);
    bias_gradient(to_gates, cell.input_bias);
    bias_gradient(to_gates, cell.state_bias);
    for (Matrix* one : {&to_gates, &to_reads, &to_scores}) buffers_.give_back(std::move(*one));
  }
  for (const Var one : {cell.input_weights, cell.state_weights}) {
    if (!wanted(one)) continue;
    std::vector<float>& to = sum(one).values;
    kernels().add_scaled(to.size(), 1, to_weights.values.data(), to.data());
  }
}

}  // namespace foretrain::learn
