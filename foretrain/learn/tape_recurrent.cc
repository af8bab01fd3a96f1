// SPDX-License-Identifier: Apache-2.0
// Recurrent cells, each as one operation: their gates are many small steps otherwise.
#include <cassert>

#include "foretrain/learn/gemm.h"
#include "foretrain/learn/tape.h"
#include "foretrain/learn/vector_math.h"

namespace foretrain::learn {
namespace {

// a w + bias, of every row.
Matrix affine(const Matrix& a, const Matrix& w, const Matrix& bias) {
  Matrix result(a.rows, w.columns);
  for (std::size_t i = 0; i < a.rows; ++i) {
    std::copy(bias.values.begin(), bias.values.end(), result.row(i));
  }
  gemm({a.rows, w.columns, a.columns}, Layout::Plain, a.values.data(), Layout::Plain,
       w.values.data(), true, result.values.data());
  return result;
}

// What comes back through it: to a's, the weights' and the bias' sums.
void affine_gradient(const Matrix& g, const Matrix& a, const Matrix& w, Matrix& to_a, Matrix& to_w,
                     Matrix& to_bias) {
  gemm({a.rows, a.columns, w.columns}, Layout::Plain, g.values.data(), Layout::Transposed,
       w.values.data(), true, to_a.values.data());
  gemm({a.columns, w.columns, a.rows}, Layout::Transposed, a.values.data(), Layout::Plain,
       g.values.data(), true, to_w.values.data());
  for (std::size_t i = 0; i < g.rows; ++i) {
    for (std::size_t j = 0; j < g.columns; ++j) to_bias.values[j] += g.at(i, j);
  }
}

}  // namespace

// r, z = sigmoid(x W + h U), n = tanh(x W_n + r (h U_n)), h' = (1 - z) n + z h.
Var Tape::gru(Var x, Var h, const Cell& cell) {
  const Matrix& state = value(h);
  const std::size_t width = state.columns;
  Matrix gates = affine(value(x), value(cell.input_weights), value(cell.input_bias));
  Matrix recurrent = affine(state, value(cell.state_weights), value(cell.state_bias));
  Matrix candidate(state.rows, width);
  Matrix result(state.rows, width);
  for (std::size_t i = 0; i < state.rows; ++i) {
    float* gate = gates.row(i);
    const float* back = recurrent.row(i);
    for (std::size_t j = 0; j < 2 * width; ++j) gate[j] += back[j];
    sigmoid_all({gate, 2 * width});
    float* fresh = candidate.row(i);
    for (std::size_t j = 0; j < width; ++j)
      fresh[j] = gate[2 * width + j] + gate[j] * back[2 * width + j];
    tanh_all({fresh, width});
    for (std::size_t j = 0; j < width; ++j) {
      const float z = gate[width + j];
      result.at(i, j) = fresh[j] + z * (state.at(i, j) - fresh[j]);
    }
  }
  if (!recording_) return push(std::move(result), {});
  return push(std::move(result), [=, gates = std::move(gates), recurrent = std::move(recurrent),
                                  candidate = std::move(candidate)](Tape& tape, const Matrix& g) {
    const Matrix& before = tape.value(h);
    Matrix to_gates(g.rows, 3 * width);      // of x W
    Matrix to_recurrent(g.rows, 3 * width);  // of h U
    Matrix& to_state = tape.sum(h);
    for (std::size_t i = 0; i < g.rows; ++i) {
      const float* gate = gates.row(i);
      const float* back = recurrent.row(i);
      for (std::size_t j = 0; j < width; ++j) {
        const float r = gate[j];
        const float z = gate[width + j];
        const float n = candidate.at(i, j);
        const float change = g.at(i, j);
        const float to_n = change * (1 - z) * (1 - n * n);
        const float to_z = change * (before.at(i, j) - n) * z * (1 - z);
        const float to_r = to_n * back[2 * width + j] * r * (1 - r);
        to_gates.at(i, j) = to_recurrent.at(i, j) = to_r;
        to_gates.at(i, width + j) = to_recurrent.at(i, width + j) = to_z;
        to_gates.at(i, 2 * width + j) = to_n;
        to_recurrent.at(i, 2 * width + j) = to_n * r;
        to_state.at(i, j) += change * z;
      }
    }
    affine_gradient(to_gates, tape.value(x), tape.value(cell.input_weights), tape.sum(x),
                    tape.sum(cell.input_weights), tape.sum(cell.input_bias));
    affine_gradient(to_recurrent, before, tape.value(cell.state_weights), tape.sum(h),
                    tape.sum(cell.state_weights), tape.sum(cell.state_bias));
  });
}

// i, f, o = sigmoid, g = tanh of x W + h U; c' = f c + i g, h' = o tanh(c').
Var Tape::lstm(Var x, Var state_and_content, const Cell& cell) {
  const Matrix& both = value(state_and_content);
  const std::size_t width = both.columns / 2;
  Matrix state(both.rows, width);
  for (std::size_t i = 0; i < both.rows; ++i) std::copy_n(both.row(i), width, state.row(i));
  Matrix gates = affine(value(x), value(cell.input_weights), value(cell.input_bias));
  const Matrix recurrent = affine(state, value(cell.state_weights), value(cell.state_bias));
  Matrix content(both.rows, width);  // tanh(c')
  Matrix result(both.rows, 2 * width);
  for (std::size_t i = 0; i < both.rows; ++i) {
    float* gate = gates.row(i);
    for (std::size_t j = 0; j < 4 * width; ++j) gate[j] += recurrent.at(i, j);
    sigmoid_all({gate, 2 * width});
    tanh_all({gate + 2 * width, width});
    sigmoid_all({gate + 3 * width, width});
    for (std::size_t j = 0; j < width; ++j) {
      content.at(i, j) = result.at(i, width + j) =
          gate[width + j] * both.at(i, width + j) + gate[j] * gate[2 * width + j];
    }
    tanh_all({content.row(i), width});
    for (std::size_t j = 0; j < width; ++j)
      result.at(i, j) = gate[3 * width + j] * content.at(i, j);
  }
  if (!recording_) return push(std::move(result), {});
  return push(std::move(result), [=, state = std::move(state), gates = std::move(gates),
                                  content = std::move(content)](Tape& tape, const Matrix& g) {
    const Matrix& before = tape.value(state_and_content);
    Matrix to_gates(g.rows, 4 * width);
    Matrix to_state(g.rows, width);
    for (std::size_t i = 0; i < g.rows; ++i) {
      const float* gate = gates.row(i);
      for (std::size_t j = 0; j < width; ++j) {
        const float in = gate[j];
        const float forget = gate[width + j];
        const float fresh = gate[2 * width + j];
        const float out = gate[3 * width + j];
        const float c = content.at(i, j);
        const float to_c = g.at(i, width + j) + g.at(i, j) * out * (1 - c * c);
        to_gates.at(i, j) = to_c * fresh * in * (1 - in);
        to_gates.at(i, width + j) = to_c * before.at(i, width + j) * forget * (1 - forget);
        to_gates.at(i, 2 * width + j) = to_c * in * (1 - fresh * fresh);
        to_gates.at(i, 3 * width + j) = g.at(i, j) * c * out * (1 - out);
        tape.sum(state_and_content).at(i, width + j) += to_c * forget;
      }
    }
    affine_gradient(to_gates, tape.value(x), tape.value(cell.input_weights), tape.sum(x),
                    tape.sum(cell.input_weights), tape.sum(cell.input_bias));
    affine_gradient(to_gates, state, tape.value(cell.state_weights), to_state,
                    tape.sum(cell.state_weights), tape.sum(cell.state_bias));
    Matrix& to_both = tape.sum(state_and_content);
    for (std::size_t i = 0; i < g.rows; ++i) {
      for (std::size_t j = 0; j < width; ++j) to_both.at(i, j) += to_state.at(i, j);
    }
  });
}

}  // namespace foretrain::learn
