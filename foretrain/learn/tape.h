// SPDX-License-Identifier: Apache-2.0
// Arithmetic of small networks on matrices, recorded so that gradients can be worked out backwards
// (reverse-mode differentiation). Whoever only predicts does not ask for gradients.
#pragma once

#include <functional>
#include <vector>

#include "foretrain/learn/matrix.h"

namespace foretrain::learn {

// A value on a tape.
struct Var {
  std::size_t index = 0;
};

class Tape {
 public:
  // Without `recording` nothing is kept for gradients.
  explicit Tape(bool recording = true) : recording_(recording) {}

  // A value that gradients may be asked of (a parameter), or not (data).
  Var input(Matrix value);

  Var matmul(Var a, Var b);
  Var add(Var a, Var b);        // of equal shape
  Var add_row(Var a, Var row);  // the same row to every row of a
  Var multiply(Var a, Var b);   // element by element
  Var scale(Var a, float factor);
  Var leaky_relu(Var a, float slope = 0.01F);
  Var tanh(Var a);
  Var concat(Var a, Var b);                // side by side
  Var dropout(Var a, const Matrix& mask);  // times a mask of zeros and 1 / (1 - p)

  // Graphs: neighbours by a sparse matrix, segments of nodes.
  Var spread(const Sparse& matrix, Var a);  // matrix times a; the matrix must outlive the tape
  // Attention over neighbours (GAT): row i is the sum over its neighbours j of
  // softmax_j(leaky_relu( left_i + right_j)) a_j.
  Var attend(const Sparse& neighbours, Var a, Var left, Var right);
  Var segment_mean(const Segments& nodes, Var a);  // a row for each segment
  Var segment_max(const Segments& nodes, Var a);
  // The sum of a segment's rows, weighted by the softmax of their scores (a column).
  Var segment_attention(const Segments& nodes, Var a, Var scores);
  // Scores of a segment's rows against its query: their products, a column.
  Var segment_scores(const Segments& nodes, Var a, Var queries);

  // Recurrent cells as PyTorch defines them; gates are ordered reset, update, new (GRU) and input,
  // forget, cell, output (LSTM). Weights lie as inputs x gates.
  struct Cell {
    Var input_weights;
    Var state_weights;
    Var input_bias;
    Var state_bias;
  };
  Var gru(Var x, Var h, const Cell& cell);
  // The new state and the new cell's content, side by side.
  Var lstm(Var x, Var state_and_content, const Cell& cell);
  Var columns(Var a, std::size_t from, std::size_t count);

  // The mean of squares of a - b over what the mask (zeros and ones, same shape) has.
  Var mean_square(Var a, const Matrix& b, const Matrix& mask);

  const Matrix& value(Var v) const { return values_[v.index]; }

  // Gradients of the only element of `loss`, once; then `gradient` gives those of inputs. Empty:
  // the loss does not depend on it.
  void backward(Var loss);
  const Matrix& gradient(Var v) const { return gradients_[v.index]; }

 private:
  using Backward = std::function<void(Tape& tape, const Matrix& gradient)>;
  Var push(Matrix value, Backward backward);
  // Where a gradient is added up; zeros at first.
  Matrix& sum(Var v);

  bool recording_;
  std::vector<Matrix> values_;
  std::vector<Backward> backwards_;
  std::vector<Matrix> gradients_;
};

}  // namespace foretrain::learn
