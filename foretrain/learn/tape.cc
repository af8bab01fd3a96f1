// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/tape.h"

#include <algorithm>
#include <cassert>

#include "foretrain/learn/detail/kernels.h"
#include "foretrain/learn/vector_math.h"

namespace foretrain::learn {

Var Tape::push(Matrix value, std::initializer_list<Var> sources, Backward backward) {
  const bool wants = recording_ && std::any_of(sources.begin(), sources.end(),
                                               [this](Var source) { return wanted(source); });
  values_.push_back(std::move(value));
  wanted_.push_back(wants);
  backwards_.push_back(wants ? std::move(backward) : Backward{});
  return {values_.size() - 1};
}

Var Tape::save(Matrix matrix) {
  if (!recording_) {
    buffers_.give_back(std::move(matrix));
    return {};
  }
  return push(std::move(matrix), {}, {});
}

Var Tape::data(const Matrix& value) {
  Matrix copy = take(value.rows, value.columns);
  std::copy(value.values.begin(), value.values.end(), copy.values.begin());
  return push(std::move(copy), {}, {});
}

Var Tape::input(const Matrix& value) {
  const Var v = data(value);
  wanted_[v.index] = recording_;
  return v;
}

void Tape::keep() {
  kept_ = values_.size();
  packed_.resize(kept_);
}

void Tape::shrink(std::size_t count) {
  for (std::size_t i = count; i < values_.size(); ++i) buffers_.give_back(std::move(values_[i]));
  for (std::size_t i = count; i < gradients_.size(); ++i) {
    buffers_.give_back(std::move(gradients_[i]));
  }
  values_.resize(count);
  wanted_.resize(count);
  backwards_.resize(count);
  gradients_.resize(std::min(gradients_.size(), count));
}

void Tape::rewind() { shrink(kept_); }

void Tape::clear() {
  shrink(0);
  packed_.clear();
  kept_ = 0;
}

void Tape::drop(Var v) {
  if (!recording_ && v.index >= kept_) buffers_.give_back(std::move(values_[v.index]));
}

Matrix& Tape::sum(Var v) {
  Matrix& gradient = gradients_[v.index];
  const Matrix& of = values_[v.index];
  if (gradient.values.empty()) {
    gradient = take(of.rows, of.columns);
    std::fill(gradient.values.begin(), gradient.values.end(), 0.0F);
  }
  return gradient;
}

void Tape::add(Var v, Matrix&& gradient) {
  Matrix& to = gradients_[v.index];
  if (to.values.empty()) {
    to = std::move(gradient);
    return;
  }
  kernels().add_scaled(to.values.size(), 1, gradient.values.data(), to.values.data());
  buffers_.give_back(std::move(gradient));
}

void Tape::backward(Var loss) {
  assert(recording_ && value(loss).values.size() == 1);
  gradients_.resize(values_.size());
  if (!wanted(loss)) return;
  sum(loss).values[0] = 1;
  for (std::size_t i = loss.index + 1; i-- > kept_;) {
    if (!backwards_[i] || gradients_[i].values.empty()) continue;
    Matrix gradient = std::move(gradients_[i]);
    gradients_[i] = {};
    backwards_[i](*this, gradient);
    buffers_.give_back(std::move(gradient));
  }
}

const PackedMatrix& Tape::packed(Var v, Layout layout) {
  thread_local PackedMatrix passing;
  const Matrix& matrix = value(v);
  const bool plain = layout == Layout::Plain;
  const bool stays = v.index < kept_;
  PackedMatrix& place = !stays  ? passing
                        : plain ? packed_[v.index].plain
                                : packed_[v.index].transposed;
  if (!stays || place.values.empty()) {
    pack({matrix.values.data(), matrix.columns, layout}, plain ? matrix.rows : matrix.columns,
         plain ? matrix.columns : matrix.rows, place);
  }
  return place;
}

Matrix Tape::product(const Matrix& a, Var w) {
  const std::size_t n = value(w).columns;
  Matrix result = take(a.rows, n);
  gemm({a.rows, n, a.columns}, {a.values.data(), a.columns}, packed(w, Layout::Plain), false,
       result.values.data(), n);
  return result;
}

Matrix Tape::affine(const Matrix& a, Var w, Var bias) {
  const std::vector<float>& row = value(bias).values;
  Matrix result = take(a.rows, row.size());
  gemm_plus_row({a.rows, row.size(), a.columns}, {a.values.data(), a.columns},
                packed(w, Layout::Plain), row.data(), result.values.data(), row.size());
  return result;
}

void Tape::product_gradient(const Matrix& g, Var a, Var w) {
  const Matrix& x = value(a);
  if (wanted(a)) {
    Matrix& to = gradients_[a.index];
    const bool begun = !to.values.empty();
    if (!begun) to = take(x.rows, x.columns);
    gemm({x.rows, x.columns, g.columns}, {g.values.data(), g.columns},
         packed(w, Layout::Transposed), begun, to.values.data(), x.columns);
  }
  if (wanted(w)) {
    gemm({x.columns, g.columns, x.rows}, {x.values.data(), x.columns, Layout::Transposed},
         Factor{g.values.data(), g.columns}, true, sum(w).values.data(), g.columns);
  }
}

void Tape::bias_gradient(const Matrix& g, Var bias) {
  if (!wanted(bias)) return;
  kernels().add_rows(g.rows, g.columns, g.values.data(), sum(bias).values.data());
}

Var Tape::matmul(Var a, Var b) {
  return push(product(value(a), b), {a, b},
              [=](Tape& tape, const Matrix& g) { tape.product_gradient(g, a, b); });
}

Var Tape::add_row(Var a, Var row) {
  Matrix result = value(a);
  const std::vector<float>& bias = value(row).values;
  for (std::size_t i = 0; i < result.rows; ++i) {
    kernels().add_scaled(bias.size(), 1, bias.data(), result.row(i));
  }
  return push(std::move(result), {a, row}, [=](Tape& tape, const Matrix& g) {
    if (tape.wanted(a)) tape.add(a, Matrix(g));
    tape.bias_gradient(g, row);
  });
}

Var Tape::leaky_relu(Var a, float slope) {
  Matrix result = value(a);
  for (float& x : result.values) x = x > 0 ? x : slope * x;
  return push(std::move(result), {a}, [=](Tape& tape, const Matrix& g) {
    const std::vector<float>& x = tape.value(a).values;
    std::vector<float>& to = tape.sum(a).values;
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] += x[i] > 0 ? g.values[i] : slope * g.values[i];
    }
  });
}

Var Tape::tanh(Var a) {
  Matrix result = value(a);
  tanh_all(result.values);
  const Var self{values_.size()};
  return push(std::move(result), {a}, [=](Tape& tape, const Matrix& g) {
    const std::vector<float>& y = tape.value(self).values;
    std::vector<float>& to = tape.sum(a).values;
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += g.values[i] * (1 - y[i] * y[i]);
  });
}

Var Tape::concat(Var a, Var b) {
  const Matrix& left = value(a);
  const Matrix& right = value(b);
  assert(left.rows == right.rows);
  Matrix result = take(left.rows, left.columns + right.columns);
  for (std::size_t i = 0; i < left.rows; ++i) {
    std::copy_n(left.row(i), left.columns, result.row(i));
    std::copy_n(right.row(i), right.columns, result.row(i) + left.columns);
  }
  const std::size_t split = left.columns;
  return push(std::move(result), {a, b}, [=](Tape& tape, const Matrix& g) {
    for (std::size_t i = 0; i < g.rows; ++i) {
      for (std::size_t j = 0; j < g.columns; ++j) {
        const bool in_left = j < split;
        if (!tape.wanted(in_left ? a : b)) continue;
        tape.sum(in_left ? a : b).at(i, in_left ? j : j - split) += g.at(i, j);
      }
    }
  });
}

Var Tape::square_sum(Var a, const Matrix& b, const Matrix& mask) {
  const Matrix& x = value(a);
  Matrix difference(x.rows, x.columns);
  double total = 0;
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    if (mask.values[i] == 0) continue;
    difference.values[i] = x.values[i] - b.values[i];
    total += static_cast<double>(difference.values[i]) * difference.values[i];
  }
  return push(Matrix(1, 1, static_cast<float>(total)), {a},
              [=, difference = std::move(difference)](Tape& tape, const Matrix& g) {
                std::vector<float>& to = tape.sum(a).values;
                for (std::size_t i = 0; i < to.size(); ++i) {
                  to[i] += 2 * g.values[0] * difference.values[i];
                }
              });
}

}  // namespace foretrain::learn
