// SPDX-License-Identifier: Apache-2.0
// Arithmetic of small networks on matrices, recorded so that gradients can be worked out backwards
// (reverse-mode differentiation). Whoever only predicts does not ask for gradients.
#pragma once

#include <functional>
#include <initializer_list>
#include <vector>

#include "foretrain/learn/buffers.h"
#include "foretrain/learn/gemm.h"
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

  Var input(const Matrix& value);  // gradients may be asked of it: a parameter
  Var data(const Matrix& value);   // none are: an example, or a parameter that is not trained

  // What was put in so far stays when the tape is rewound, and its gradients add up: parameters,
  // while examples come and go. Memory of what goes is used again.
  void keep();
  void rewind();
  // Forgets all; only memory stays.
  void clear();
  // A value that nobody reads any more: its memory is used again, unless gradients need it.
  void drop(Var v);

  Var matmul(Var a, Var b);
  Var add_row(Var a, Var row);  // the same row to every row of a
  Var leaky_relu(Var a, float slope = kLeakySlope);
  Var tanh(Var a);
  Var concat(Var a, Var b);  // side by side

  // Graphs: neighbours by a sparse matrix, segments of nodes. Both must outlive what is recorded.
  Var spread(const Sparse& matrix, Var a);  // matrix times a
  // leaky_relu(matrix a weights + bias)
  Var gcn(const Sparse& matrix, Var a, Var weights, Var bias);
  // Attention over neighbours (GAT): row i is the sum over its neighbours j of
  // softmax_j(leaky_relu(left_i + right_j)) a_j.
  Var attend(const Sparse& neighbours, Var a, Var left, Var right);
  Var segment_mean(const Segments& nodes, Var a);  // a row for each segment
  Var segment_max(const Segments& nodes, Var a);
  // The sum of a segment's rows, weighted by the softmax of their scores (a column).
  Var segment_attention(const Segments& nodes, Var a, Var scores);

  // Recurrent cells as PyTorch defines them; gates are ordered reset, update, new (GRU) and input,
  // forget, cell, output (LSTM). Weights lie as inputs x gates.
  struct Cell {
    Var input_weights;
    Var state_weights;
    Var input_bias;
    Var state_bias;
  };
  // The new state of h. Where x has fewer columns than the cell has inputs, the others are zeros.
  Var gru(Var x, Var h, const Cell& cell);
  // Set2Set: for each segment an LSTM is asked `steps` times (0: once for each of its rows); its
  // state is the query, the sum of the segment's rows weighted by the softmax of their products
  // with the query is what it reads; both are its next input. A row [query, read] for each segment.
  // Source: Vinyals, Bengio, Kudlur, ICLR 2016.
  Var set2set(const Segments& nodes, Var a, const Cell& cell, std::size_t steps);

  // The sum of squares of a - b over what the mask (zeros and ones, same shape) has.
  Var square_sum(Var a, const Matrix& b, const Matrix& mask);

  const Matrix& value(Var v) const { return values_[v.index]; }

  // Gradients of the only element of `loss`; then `gradient` gives those of inputs. Empty: the loss
  // does not depend on it.
  void backward(Var loss);
  const Matrix& gradient(Var v) const { return gradients_[v.index]; }

 private:
  static constexpr float kLeakySlope = 0.01F;

  using Backward = std::function<void(Tape& tape, const Matrix& gradient)>;
  // A result, by which it can be differentiated where one of its sources can.
  Var push(Matrix value, std::initializer_list<Var> sources, Backward backward);
  // Something a gradient will need; without recording its memory is used again.
  Var save(Matrix matrix);
  Matrix take(std::size_t rows, std::size_t columns) { return buffers_.take(rows, columns); }
  bool wanted(Var v) const { return wanted_[v.index]; }
  void shrink(std::size_t count);

  // A parameter as the right factor of products: packed once.
  const PackedMatrix& packed(Var v, Layout layout);
  // a times w, or a times w plus a row.
  Matrix product(const Matrix& a, Var w);
  Matrix affine(const Matrix& a, Var w, Var bias);
  // What comes back through a product, for what is wanted of it.
  void product_gradient(const Matrix& g, Var a, Var w);
  void bias_gradient(const Matrix& g, Var bias);
  void set2set_gradient(const Segments& nodes, Var a, const Cell& cell, std::size_t first_saved,
                        const Matrix& g);

  // Where a gradient is added up; zeros at first.
  Matrix& sum(Var v);
  // Adds a gradient to what is there.
  void add(Var v, Matrix&& gradient);

  bool recording_;
  std::size_t kept_ = 0;
  Buffers buffers_;
  std::vector<Matrix> values_;
  std::vector<bool> wanted_;
  std::vector<Backward> backwards_;
  std::vector<Matrix> gradients_;
  struct Packed {
    PackedMatrix plain;
    PackedMatrix transposed;
  };
  std::vector<Packed> packed_;  // of what is kept
};

}  // namespace foretrain::learn
