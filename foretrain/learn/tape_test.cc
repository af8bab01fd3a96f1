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
  variables.reserve(inputs.size());
  for (const Matrix& input : inputs) variables.push_back(tape.input(input));
  const Var result = function(tape, variables);
  const Matrix& value = tape.value(result);
  const Matrix target = drawn(value.rows, value.columns, 99);
  return tape.value(tape.square_sum(result, target, Matrix(value.rows, value.columns, 1)))
      .values[0];
}

// Every gradient against the change of the loss when its input moves a little, both ways.
void check_gradients(const Function& function, const std::vector<Matrix>& inputs) {
  Tape tape;
  std::vector<Var> variables;
  variables.reserve(inputs.size());
  for (const Matrix& input : inputs) variables.push_back(tape.input(input));
  const Var result = function(tape, variables);
  const Matrix& value = tape.value(result);
  const Var loss = tape.square_sum(result, drawn(value.rows, value.columns, 99),
                                   Matrix(value.rows, value.columns, 1));
  tape.backward(loss);
  constexpr float kMove = 1e-2F;
  for (std::size_t v = 0; v < inputs.size(); ++v) {
    const Matrix& gradient = tape.gradient(variables[v]);
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
        return tape.add_row(tape.matmul(x[0], x[1]), x[2]);
      },
      {drawn(3, 4, 1), drawn(4, 2, 2), drawn(1, 2, 3)});
}

TEST(Tape, ElementByElement) {
  check_gradients(
      [](Tape& tape, const std::vector<Var>& x) {
        return tape.concat(tape.tanh(x[0]), tape.leaky_relu(x[1], 0.1F));
      },
      {drawn(3, 2, 5), drawn(3, 2, 6)});
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

TEST(Tape, GraphConvolution) {
  check_gradients(
      [](Tape& tape, const std::vector<Var>& x) { return tape.gcn(kNeighbours, x[0], x[1], x[2]); },
      {drawn(4, 3, 26), drawn(3, 5, 27), drawn(1, 5, 28)});
}

TEST(Tape, Segments) {
  check_gradients(
      [](Tape& tape, const std::vector<Var>& x) {
        return tape.concat(
            tape.segment_attention(kSegments, x[0], x[1]),
            tape.concat(tape.segment_mean(kSegments, x[0]), tape.segment_max(kSegments, x[0])));
      },
      {drawn(4, 3, 12), drawn(4, 1, 13)});
}

Tape::Cell cell_of(const std::vector<Var>& x, std::size_t first) {
  return {x[first], x[first + 1], x[first + 2], x[first + 3]};
}

// Also with fewer inputs than the cell has.
TEST(Tape, Gru) {
  for (const std::size_t inputs : {2, 1}) {
    check_gradients(
        [&](Tape& tape, const std::vector<Var>& x) { return tape.gru(x[0], x[1], cell_of(x, 2)); },
        {drawn(3, inputs, 14), drawn(3, 4, 15), drawn(2, 12, 16), drawn(4, 12, 17),
         drawn(1, 12, 18), drawn(1, 12, 19)});
  }
}

TEST(Tape, Set2Set) {
  check_gradients(
      [&](Tape& tape, const std::vector<Var>& x) {
        return tape.set2set(kSegments, x[0], cell_of(x, 1), 3);
      },
      {drawn(4, 3, 20), drawn(6, 12, 22), drawn(3, 12, 23), drawn(1, 12, 24), drawn(1, 12, 25)});
}

// All weights zero: gates are one half, the candidate 0, so that half of the state stays.
TEST(Tape, AGruOfZerosHalvesItsState) {
  Tape tape(false);
  const Tape::Cell cell{tape.input(Matrix(1, 6)), tape.input(Matrix(2, 6)),
                        tape.input(Matrix(1, 6)), tape.input(Matrix(1, 6))};
  const Var result = tape.gru(tape.input(Matrix(1, 1, 3)), tape.input(Matrix(1, 2, 4)), cell);
  EXPECT_EQ(tape.value(result).values, (std::vector<float>{2, 2}));
}

// Two of three elements count: (1 - 0)^2 + (5 - 2)^2 = 10; gradients 2 (1 - 0), 0, 2 (5 - 2).
TEST(Tape, WhatIsMaskedDoesNotCount) {
  Tape tape;
  Matrix a(1, 3);
  a.values = {1, 7, 5};
  Matrix b(1, 3);
  b.values = {0, 0, 2};
  Matrix mask(1, 3, 1);
  mask.values[1] = 0;
  const Var x = tape.input(a);
  const Var loss = tape.square_sum(x, b, mask);
  EXPECT_EQ(tape.value(loss).values[0], 10);
  tape.backward(loss);
  EXPECT_EQ(tape.gradient(x).values, (std::vector<float>{2, 0, 6}));
}

// (2 w)^2 and (3 w)^2 for w = 1: gradients 8 and 18, one after the other on the same tape.
TEST(Tape, GradientsOfWhatIsKeptAddUp) {
  Tape tape;
  const Var w = tape.input(Matrix(1, 1, 1));
  tape.keep();
  for (const float x : {2.0F, 3.0F}) {
    const Var y = tape.matmul(tape.data(Matrix(1, 1, x)), w);
    tape.backward(tape.square_sum(y, Matrix(1, 1), Matrix(1, 1, 1)));
    tape.rewind();
  }
  EXPECT_EQ(tape.gradient(w).values, (std::vector<float>{26}));
}

// Data have no gradient, and neither has what comes from data alone.
TEST(Tape, OfDataThereIsNoGradient) {
  Tape tape;
  const Var x = tape.data(Matrix(1, 1, 2));
  const Var y = tape.matmul(x, x);
  tape.backward(
      tape.square_sum(tape.matmul(y, tape.input(Matrix(1, 1, 1))), Matrix(1, 1), Matrix(1, 1, 1)));
  EXPECT_TRUE(tape.gradient(x).values.empty());
  EXPECT_TRUE(tape.gradient(y).values.empty());
}

}  // namespace
}  // namespace foretrain::learn
