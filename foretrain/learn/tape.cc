// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/tape.h"

#include <algorithm>
#include <cassert>

#include "foretrain/learn/gemm.h"
#include "foretrain/learn/vector_math.h"

namespace foretrain::learn {
namespace {

void add_to(const std::vector<float>& from, std::vector<float>& to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

}  // namespace

Var Tape::push(Matrix value, Backward backward) {
  values_.push_back(std::move(value));
  backwards_.push_back(recording_ ? std::move(backward) : Backward{});
  return {values_.size() - 1};
}

Matrix& Tape::sum(Var v) {
  Matrix& gradient = gradients_[v.index];
  const Matrix& value = values_[v.index];
  if (gradient.values.empty()) gradient = Matrix(value.rows, value.columns);
  return gradient;
}

void Tape::backward(Var loss) {
  assert(recording_ && value(loss).values.size() == 1);
  gradients_.assign(values_.size(), {});
  sum(loss).values[0] = 1;
  for (std::size_t i = loss.index + 1; i-- > 0;) {
    if (!backwards_[i]) continue;
    const Matrix gradient = std::move(gradients_[i]);
    if (!gradient.values.empty()) backwards_[i](*this, gradient);
    backwards_[i] = {};  // with what it kept
  }
}

Var Tape::input(Matrix value) { return push(std::move(value), {}); }

Var Tape::matmul(Var a, Var b) {
  const Matrix& left = value(a);
  const Matrix& right = value(b);
  assert(left.columns == right.rows);
  Matrix result(left.rows, right.columns);
  const std::size_t m = left.rows;
  const std::size_t n = right.columns;
  const std::size_t k = left.columns;
  gemm({m, n, k}, Layout::Plain, left.values.data(), Layout::Plain, right.values.data(), false,
       result.values.data());
  return push(std::move(result), [=](Tape& tape, const Matrix& g) {
    gemm({m, k, n}, Layout::Plain, g.values.data(), Layout::Transposed, tape.value(b).values.data(),
         true, tape.sum(a).values.data());
    gemm({k, n, m}, Layout::Transposed, tape.value(a).values.data(), Layout::Plain, g.values.data(),
         true, tape.sum(b).values.data());
  });
}

Var Tape::add(Var a, Var b) {
  Matrix result = value(a);
  assert(value(b).values.size() == result.values.size());
  add_to(value(b).values, result.values);
  return push(std::move(result), [=](Tape& tape, const Matrix& g) {
    add_to(g.values, tape.sum(a).values);
    add_to(g.values, tape.sum(b).values);
  });
}

Var Tape::add_row(Var a, Var row) {
  Matrix result = value(a);
  const std::vector<float>& bias = value(row).values;
  for (std::size_t i = 0; i < result.rows; ++i) {
    for (std::size_t j = 0; j < result.columns; ++j) result.at(i, j) += bias[j];
  }
  return push(std::move(result), [=](Tape& tape, const Matrix& g) {
    add_to(g.values, tape.sum(a).values);
    std::vector<float>& bias_sum = tape.sum(row).values;
    for (std::size_t i = 0; i < g.rows; ++i) {
      for (std::size_t j = 0; j < g.columns; ++j) bias_sum[j] += g.at(i, j);
    }
  });
}

Var Tape::multiply(Var a, Var b) {
  Matrix result = value(a);
  const std::vector<float>& other = value(b).values;
  for (std::size_t i = 0; i < other.size(); ++i) result.values[i] *= other[i];
  return push(std::move(result), [=](Tape& tape, const Matrix& g) {
    const std::vector<float>& left = tape.value(a).values;
    const std::vector<float>& right = tape.value(b).values;
    std::vector<float>& to_left = tape.sum(a).values;
    for (std::size_t i = 0; i < left.size(); ++i) to_left[i] += g.values[i] * right[i];
    std::vector<float>& to_right = tape.sum(b).values;
    for (std::size_t i = 0; i < left.size(); ++i) to_right[i] += g.values[i] * left[i];
  });
}

Var Tape::scale(Var a, float factor) {
  Matrix result = value(a);
  for (float& x : result.values) x *= factor;
  return push(std::move(result), [=](Tape& tape, const Matrix& g) {
    std::vector<float>& to = tape.sum(a).values;
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * g.values[i];
  });
}

Var Tape::leaky_relu(Var a, float slope) {
  Matrix result = value(a);
  for (float& x : result.values) x = x > 0 ? x : slope * x;
  return push(std::move(result), [=](Tape& tape, const Matrix& g) {
    const std::vector<float>& x = tape.value(a).values;
    std::vector<float>& to = tape.sum(a).values;
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] += x[i] > 0 ? g.values[i] : slope * g.values[i];
  });
}

Var Tape::tanh(Var a) {
  Matrix result = value(a);
  tanh_all(result.values);
  const Var self{values_.size()};
  return push(std::move(result), [=](Tape& tape, const Matrix& g) {
    const std::vector<float>& y = tape.value(self).values;
    std::vector<float>& to = tape.sum(a).values;
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += g.values[i] * (1 - y[i] * y[i]);
  });
}

Var Tape::concat(Var a, Var b) {
  const Matrix& left = value(a);
  const Matrix& right = value(b);
  assert(left.rows == right.rows);
  Matrix result(left.rows, left.columns + right.columns);
  for (std::size_t i = 0; i < left.rows; ++i) {
    std::copy_n(left.row(i), left.columns, result.row(i));
    std::copy_n(right.row(i), right.columns, result.row(i) + left.columns);
  }
  const std::size_t split = left.columns;
  return push(std::move(result), [=](Tape& tape, const Matrix& g) {
    Matrix& to_left = tape.sum(a);
    Matrix& to_right = tape.sum(b);
    for (std::size_t i = 0; i < g.rows; ++i) {
      for (std::size_t j = 0; j < split; ++j) to_left.at(i, j) += g.at(i, j);
      for (std::size_t j = split; j < g.columns; ++j) to_right.at(i, j - split) += g.at(i, j);
    }
  });
}

Var Tape::columns(Var a, std::size_t from, std::size_t count) {
  const Matrix& whole = value(a);
  Matrix result(whole.rows, count);
  for (std::size_t i = 0; i < whole.rows; ++i)
    std::copy_n(whole.row(i) + from, count, result.row(i));
  return push(std::move(result), [=](Tape& tape, const Matrix& g) {
    Matrix& to = tape.sum(a);
    for (std::size_t i = 0; i < g.rows; ++i) {
      for (std::size_t j = 0; j < count; ++j) to.at(i, from + j) += g.at(i, j);
    }
  });
}

Var Tape::dropout(Var a, const Matrix& mask) { return multiply(a, input(mask)); }

Var Tape::mean_square(Var a, const Matrix& b, const Matrix& mask) {
  const Matrix& x = value(a);
  Matrix difference(x.rows, x.columns);
  double total = 0;
  double count = 0;
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    if (mask.values[i] == 0) continue;
    difference.values[i] = x.values[i] - b.values[i];
    total += static_cast<double>(difference.values[i]) * difference.values[i];
    count += 1;
  }
  count = std::max(count, 1.0);
  const auto factor = static_cast<float>(2 / count);
  return push(Matrix(1, 1, static_cast<float>(total / count)),
              [=, difference = std::move(difference)](Tape& tape, const Matrix& g) {
                std::vector<float>& to = tape.sum(a).values;
                for (std::size_t i = 0; i < to.size(); ++i) {
                  to[i] += g.values[0] * factor * difference.values[i];
                }
              });
}

}  // namespace foretrain::learn
