// SPDX-License-Identifier: Apache-2.0
// Operations over the nodes of graphs.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "foretrain/learn/detail/kernels.h"
#include "foretrain/learn/tape.h"
#include "foretrain/learn/vector_math.h"

namespace foretrain::learn {
namespace {

std::size_t begin_of(const Segments& nodes, std::size_t segment) {
  return static_cast<std::size_t>(nodes[segment]);
}

std::size_t count_of(const Segments& nodes) { return nodes.size() - 1; }

// matrix times x, plus a bias, through a leaky ReLU.
void multiply_sparse(const Sparse& matrix, const Matrix& x, const float* bias, float slope,
                     Matrix& result) {
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    const std::size_t from = begin_of(matrix.first, i);
    kernels().sparse_row({x.columns, matrix.column.data() + from, matrix.value.data() + from,
                          begin_of(matrix.first, i + 1) - from, x.values.data(), bias, slope,
                          result.row(i)});
  }
}

}  // namespace

Var Tape::spread(const Sparse& matrix, Var a) {
  Matrix result = take(matrix.rows(), value(a).columns);
  multiply_sparse(matrix, value(a), nullptr, 1, result);
  return push(std::move(result), {a}, [=, &matrix](Tape& tape, const Matrix& g) {
    Matrix to = tape.take(g.rows, g.columns);
    multiply_sparse(matrix, g, nullptr, 1, to);
    tape.add(a, std::move(to));
  });
}

Var Tape::gcn(const Sparse& matrix, Var a, Var weights, Var bias) {
  Matrix inner = product(value(a), weights);
  Matrix result = take(matrix.rows(), inner.columns);
  multiply_sparse(matrix, inner, value(bias).values.data(), kLeakySlope, result);
  buffers_.give_back(std::move(inner));
  const Var self{values_.size()};
  return push(std::move(result), {a, weights, bias}, [=, &matrix](Tape& tape, const Matrix& g) {
    Matrix to_sum = tape.take(g.rows, g.columns);
    kernels().leaky_gradient(g.values.size(), kLeakySlope, tape.value(self).values.data(),
                             g.values.data(), to_sum.values.data());
    tape.bias_gradient(to_sum, bias);
    Matrix to_product = tape.take(g.rows, g.columns);
    multiply_sparse(matrix, to_sum, nullptr, 1, to_product);
    tape.product_gradient(to_product, a, weights);
    tape.buffers_.give_back(std::move(to_sum));
    tape.buffers_.give_back(std::move(to_product));
  });
}

Var Tape::attend(const Sparse& neighbours, Var a, Var left, Var right) {
  constexpr float kSlope = 0.2F;  // Veličković et al., ICLR 2018
  const Matrix& x = value(a);
  const std::size_t width = x.columns;
  const std::vector<float>& l = value(left).values;
  const std::vector<float>& r = value(right).values;
  std::vector<float> shares(neighbours.column.size());
  Matrix result(neighbours.rows(), width);
  for (std::size_t i = 0; i < neighbours.rows(); ++i) {
    const std::size_t from = begin_of(neighbours.first, i);
    const std::size_t to = begin_of(neighbours.first, i + 1);
    for (std::size_t e = from; e < to; ++e) {
      const float score = l[i] + r[static_cast<std::size_t>(neighbours.column[e])];
      shares[e] = score > 0 ? score : kSlope * score;
    }
    softmax_all({shares.data() + from, to - from});
    for (std::size_t e = from; e < to; ++e) {
      kernels().add_scaled(width, shares[e], x.row(static_cast<std::size_t>(neighbours.column[e])),
                           result.row(i));
    }
  }
  return push(std::move(result), {a, left, right},
              [=, &neighbours, shares = std::move(shares)](Tape& tape, const Matrix& g) {
                const Matrix& rows = tape.value(a);
                const std::vector<float>& of_left = tape.value(left).values;
                const std::vector<float>& of_right = tape.value(right).values;
                Matrix& to_rows = tape.sum(a);
                std::vector<float>& to_left = tape.sum(left).values;
                std::vector<float>& to_right = tape.sum(right).values;
                std::vector<float> h(shares.size());
                for (std::size_t i = 0; i < neighbours.rows(); ++i) {
                  const std::size_t from = begin_of(neighbours.first, i);
                  const std::size_t to = begin_of(neighbours.first, i + 1);
                  for (std::size_t e = from; e < to; ++e) {
                    const auto j = static_cast<std::size_t>(neighbours.column[e]);
                    kernels().add_scaled(width, shares[e], g.row(i), to_rows.row(j));
                    h[e] = kernels().dot(width, g.row(i), rows.row(j));
                  }
                  softmax_gradient({shares.data() + from, to - from}, {h.data() + from, to - from});
                  for (std::size_t e = from; e < to; ++e) {
                    const auto j = static_cast<std::size_t>(neighbours.column[e]);
                    const float through = of_left[i] + of_right[j] > 0 ? h[e] : kSlope * h[e];
                    to_left[i] += through;
                    to_right[j] += through;
                  }
                }
              });
}

Var Tape::segment_mean(const Segments& nodes, Var a) {
  const Matrix& x = value(a);
  Matrix result(count_of(nodes), x.columns);
  const auto share = [&nodes](std::size_t s) {
    return 1.0F / static_cast<float>(begin_of(nodes, s + 1) - begin_of(nodes, s));
  };
  for (std::size_t s = 0; s < result.rows; ++s) {
    for (auto i = begin_of(nodes, s); i < begin_of(nodes, s + 1); ++i) {
      kernels().add_scaled(x.columns, share(s), x.row(i), result.row(s));
    }
  }
  return push(std::move(result), {a}, [=, &nodes](Tape& tape, const Matrix& g) {
    Matrix& to = tape.sum(a);
    for (std::size_t s = 0; s < g.rows; ++s) {
      for (auto i = begin_of(nodes, s); i < begin_of(nodes, s + 1); ++i) {
        kernels().add_scaled(g.columns, share(s), g.row(s), to.row(i));
      }
    }
  });
}

Var Tape::segment_max(const Segments& nodes, Var a) {
  const Matrix& x = value(a);
  Matrix result(count_of(nodes), x.columns);
  std::vector<std::size_t> winner(result.values.size());
  for (std::size_t s = 0; s < result.rows; ++s) {
    for (std::size_t j = 0; j < x.columns; ++j) {
      std::size_t best = begin_of(nodes, s);
      for (std::size_t i = best; i < begin_of(nodes, s + 1); ++i) {
        if (x.at(i, j) > x.at(best, j)) best = i;
      }
      result.at(s, j) = x.at(best, j);
      winner[s * x.columns + j] = best;
    }
  }
  return push(std::move(result), {a}, [=, winner = std::move(winner)](Tape& tape, const Matrix& g) {
    Matrix& to = tape.sum(a);
    for (std::size_t s = 0; s < g.rows; ++s) {
      for (std::size_t j = 0; j < g.columns; ++j) {
        to.at(winner[s * g.columns + j], j) += g.at(s, j);
      }
    }
  });
}

Var Tape::segment_attention(const Segments& nodes, Var a, Var scores) {
  const Matrix& x = value(a);
  std::vector<float> shares = value(scores).values;
  Matrix result(count_of(nodes), x.columns);
  for (std::size_t s = 0; s < result.rows; ++s) {
    const std::size_t from = begin_of(nodes, s);
    const std::size_t to = begin_of(nodes, s + 1);
    softmax_all({shares.data() + from, to - from});
    for (std::size_t i = from; i < to; ++i) {
      kernels().add_scaled(x.columns, shares[i], x.row(i), result.row(s));
    }
  }
  return push(std::move(result), {a, scores},
              [=, &nodes, shares = std::move(shares)](Tape& tape, const Matrix& g) {
                const Matrix& rows = tape.value(a);
                Matrix& to_rows = tape.sum(a);
                std::vector<float> h(shares.size());
                for (std::size_t s = 0; s < g.rows; ++s) {
                  const std::size_t from = begin_of(nodes, s);
                  const std::size_t to = begin_of(nodes, s + 1);
                  for (std::size_t i = from; i < to; ++i) {
                    kernels().add_scaled(g.columns, shares[i], g.row(s), to_rows.row(i));
                    h[i] = kernels().dot(g.columns, g.row(s), rows.row(i));
                  }
                  softmax_gradient({shares.data() + from, to - from}, {h.data() + from, to - from});
                }
                std::vector<float>& to_scores = tape.sum(scores).values;
                for (std::size_t i = 0; i < h.size(); ++i) to_scores[i] += h[i];
              });
}

}  // namespace foretrain::learn
