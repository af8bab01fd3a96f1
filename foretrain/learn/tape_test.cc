// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/tape.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace foretrain::learn {
namespace {

Matrix drawn(std::size_t rows, std::size_t columns, unsigned seed) {
  std::mt19937 generator(seed);
  Matrix matrix(rows, columns);
  for (float& value : matrix.values)
    value = static_cast<float>(generator() % 2001) / 1000.0F - 1.0F;
  return matrix;
}

using Function = std::function<Var(Tape&, const std::vector<Var>&)>;

// Squares of the function's values against those of a drawn target.
float loss_of(const Function& function, const std::vector<Matrix>& inputs) {
  Tape tape;
  std::vector<Var> variables;
  for (const Matrix& input : inputs) variables.push_back(tape.input(input));
  const Var result = function(tape, variables);
  const Matrix& value = tape.value(result);
  const Matrix target = drawn(value.rows, value.columns, 99);
  return tape.value(tape.mean_square(result, target, Matrix(value.rows, value.columns, 1)))
      .values[0];
}

// Every gradient against the change of the loss when its input moves a little, both ways.
void check_gradients(const Function& function, const std::vector<Matrix>& inputs) {
  Tape tape;
  std::vector<Var> variables;
  for (const Matrix& input : inputs) variables.push_back(tape.input(input));
  const Var result = function(tape, variables);
  const Matrix& value = tape.value(result);
  const Var loss = tape.mean_square(result, drawn(value.rows, value.columns, 99),
                                    Matrix(value.rows, value.columns, 1));
  tape.backward(loss);
  constexpr float kMove = 1e-2F;
  for (std::size_t v = 0; v < inputs.size(); ++v) {
    const Matrix gradient = tape.gradient(variables[v]);
    ASSERT_EQ(gradient.values.size(), inputs[v].values.size()) << "input " << v;
    for (std::size_t i = 0; i < gradient.values.size(); ++i) {
      std::vector<Matrix> moved = inputs;
      moved[v].values[i] += kMove;
      const float above = loss_of(function, moved);
      moved[v].values[i] -= 2 * kMove;
      const float below = loss_of(function, moved);
      EXPECT_NEAR(gradient.values[i], (above - below) / (2 * kMove), 2e-3)
          << "input " << v << ", element " << i;
    }
  }
}

// Nodes 0-1-2 in a row, and 3 alone; each its own neighbour.
const Sparse kNeighbours{
    {0, 2, 5, 7, 8}, {0, 1, 0, 1, 2, 1, 2, 3}, {0.5F, 0.4F, 0.4F, 0.3F, 0.4F, 0.4F, 0.5F, 1}};
const Segments kSegments{0, 3, 4};

TEST(Tape, ProductsAndSums) {
  check_gradients(
      [](Tape& tape, const std::vector<Var>& x) {
        return tape.add(tape.add_row(tape.matmul(x[0], x[1]), x[2]), tape.scale(x[3], 0.5F));
      },
      {drawn(3, 4, 1), drawn(4, 2, 2), drawn(1, 2, 3), drawn(3, 2, 4)});
}

TEST(Tape, ElementByElement) {
  check_gradients(
      [](Tape& tape, const std::vector<Var>& x) {
        const Var both = tape.concat(tape.tanh(x[0]), tape.leaky_relu(x[1], 0.1F));
        return tape.multiply(tape.columns(both, 1, 3), x[2]);
      },
      {drawn(3, 2, 5), drawn(3, 2, 6), drawn(3, 3, 7)});
}

TEST(Tape, Neighbours) {
  check_gradients(
      [](Tape& tape, const std::vector<Var>& x) { return tape.spread(kNeighbours, x[0]); },
      {drawn(4, 3, 8)});
  check_gradients(
      [](Tape& tape, const std::vector<Var>& x) {
        return tape.attend(kNeighbours, x[0], x[1], x[2]);
      },
      {drawn(4, 3, 9), drawn(4, 1, 10), drawn(4, 1, 11)});
}

TEST(Tape, Segments) {
  check_gradients(
      [](Tape& tape, const std::vector<Var>& x) {
        const Var scores = tape.segment_scores(kSegments, x[0], x[1]);
        return tape.concat(
            tape.segment_attention(kSegments, x[0], scores),
            tape.concat(tape.segment_mean(kSegments, x[0]), tape.segment_max(kSegments, x[0])));
      },
      {drawn(4, 3, 12), drawn(2, 3, 13)});
}

TEST(Tape, RecurrentCells) {
  const auto cell = [](const std::vector<Var>& x) { return Tape::Cell{x[2], x[3], x[4], x[5]}; };
  check_gradients(
      [&](Tape& tape, const std::vector<Var>& x) { return tape.gru(x[0], x[1], cell(x)); },
      {drawn(3, 2, 14), drawn(3, 4, 15), drawn(2, 12, 16), drawn(4, 12, 17), drawn(1, 12, 18),
       drawn(1, 12, 19)});
  check_gradients(
      [&](Tape& tape, const std::vector<Var>& x) { return tape.lstm(x[0], x[1], cell(x)); },
      {drawn(3, 2, 20), drawn(3, 8, 21), drawn(2, 16, 22), drawn(4, 16, 23), drawn(1, 16, 24),
       drawn(1, 16, 25)});
}

// All weights zero: gates are one half, the candidate 0, so that half of the state stays.
TEST(Tape, AGruOfZerosHalvesItsState) {
  Tape tape(false);
  const Tape::Cell cell{tape.input(Matrix(1, 6)), tape.input(Matrix(2, 6)),
                        tape.input(Matrix(1, 6)), tape.input(Matrix(1, 6))};
  const Var result = tape.gru(tape.input(Matrix(1, 1, 3)), tape.input(Matrix(1, 2, 4)), cell);
  EXPECT_EQ(tape.value(result).values, (std::vector<float>{2, 2}));
}

// Two of three elements count: ((1 - 0)^2 + (5 - 2)^2) / 2 = 5.
TEST(Tape, WhatIsMaskedDoesNotCount) {
  Tape tape;
  Matrix a(1, 3);
  a.values = {1, 7, 5};
  Matrix b(1, 3);
  b.values = {0, 0, 2};
  Matrix mask(1, 3, 1);
  mask.values[1] = 0;
  const Var x = tape.input(a);
  const Var loss = tape.mean_square(x, b, mask);
  EXPECT_EQ(tape.value(loss).values[0], 5);
  tape.backward(loss);
  EXPECT_EQ(tape.gradient(x).values, (std::vector<float>{1, 0, 3}));
}

}  // namespace
}  // namespace foretrain::learn
