// SPDX-License-Identifier: Apache-2.0
// The GRU as one operation: its gates are many small steps otherwise.
#include "foretrain/learn/detail/kernels.h"
#include "foretrain/learn/tape.h"

namespace foretrain::learn {

// r, z = sigmoid(x W + h U), n = tanh(x W_n + r (h U_n)), h' = (1 - z) n + z h.
Var Tape::gru(Var x, Var h, const Cell& cell) {
  const Matrix& state = value(h);
  const std::size_t width = state.columns;
  Matrix gates = affine(value(x), cell.input_weights, cell.input_bias);
  Matrix sums = affine(state, cell.state_weights, cell.state_bias);
  Matrix recurrent = take(state.rows, width);  // h U_n, which the reset gate weighs
  Matrix result = take(state.rows, width);
  for (std::size_t i = 0; i < state.rows; ++i) {
    kernels().gru(
        {width, state.row(i), sums.row(i), gates.row(i), recurrent.row(i), result.row(i)});
  }
  buffers_.give_back(std::move(sums));
  const Var kept_gates = save(std::move(gates));
  const Var kept_recurrent = save(std::move(recurrent));
  return push(
      std::move(result),
      {x, h, cell.input_weights, cell.state_weights, cell.input_bias, cell.state_bias},
      [=](Tape& tape, const Matrix& g) {
        const Matrix& before = tape.value(h);
        Matrix to_input = tape.take(g.rows, 3 * width);
        Matrix to_state = tape.take(g.rows, 3 * width);
        Matrix to_old = tape.take(g.rows, width);
        for (std::size_t i = 0; i < g.rows; ++i) {
          kernels().gru_gradient({width, g.row(i), before.row(i), tape.value(kept_recurrent).row(i),
                                  tape.value(kept_gates).row(i), to_input.row(i), to_state.row(i),
                                  to_old.row(i)});
        }
        tape.product_gradient(to_input, x, cell.input_weights);
        tape.bias_gradient(to_input, cell.input_bias);
        if (tape.wanted(h)) {
          tape.add(h, std::move(to_old));
        } else {
          tape.buffers_.give_back(std::move(to_old));
        }
        tape.product_gradient(to_state, h, cell.state_weights);
        tape.bias_gradient(to_state, cell.state_bias);
        tape.buffers_.give_back(std::move(to_input));
        tape.buffers_.give_back(std::move(to_state));
      });
}

}  // namespace foretrain::learn
