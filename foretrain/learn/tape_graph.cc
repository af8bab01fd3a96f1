// SPDX-License-Identifier: Apache-2.0
// Operations over the nodes of graphs.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "foretrain/learn/tape.h"
#include "foretrain/learn/vector_math.h"

namespace foretrain::learn {
namespace {

std::size_t begin_of(const Segments& nodes, std::size_t segment) {
  return static_cast<std::size_t>(nodes[segment]);
}

std::size_t count_of(const Segments& nodes) { return nodes.size() - 1; }

// to_i += factor * from_i, i < count.
void add_scaled(const float* from, float factor, std::size_t count, float* to) {
  for (std::size_t i = 0; i < count; ++i) to[i] += factor * from[i];
}

float dot(const float* a, const float* b, std::size_t count) {
  float sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

// Softmax of values[from] to values[to - 1], in place.
void softmax(std::vector<float>& values, std::size_t from, std::size_t to) {
  if (from == to) return;
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(from);
  const auto end = values.begin() + static_cast<std::ptrdiff_t>(to);
  const float largest = *std::max_element(begin, end);
  for (auto it = begin; it != end; ++it) *it -= largest;
  exp_all({values.data() + from, to - from});
  float total = 0;
  for (auto it = begin; it != end; ++it) total += *it;
  for (auto it = begin; it != end; ++it) *it /= total;
}

// What comes back through a softmax: g_i = p_i (h_i - sum_j p_j h_j), in place of h.
void softmax_gradient(const std::vector<float>& p, std::size_t from, std::size_t to,
                      std::vector<float>& h) {
  const float mean = dot(p.data() + from, h.data() + from, to - from);
  for (std::size_t i = from; i < to; ++i) h[i] = p[i] * (h[i] - mean);
}

}  // namespace

Var Tape::spread(const Sparse& matrix, Var a) {
  const Matrix& x = value(a);
  const std::size_t width = x.columns;
  Matrix result(matrix.rows(), width);
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    for (auto e = begin_of(matrix.first, i); e < begin_of(matrix.first, i + 1); ++e) {
      add_scaled(x.row(static_cast<std::size_t>(matrix.column[e])), matrix.value[e], width,
                 result.row(i));
    }
  }
  return push(std::move(result), [=, &matrix](Tape& tape, const Matrix& g) {
    Matrix& to = tape.sum(a);
    for (std::size_t i = 0; i < matrix.rows(); ++i) {
      for (auto e = begin_of(matrix.first, i); e < begin_of(matrix.first, i + 1); ++e) {
        add_scaled(g.row(i), matrix.value[e], width,
                   to.row(static_cast<std::size_t>(matrix.column[e])));
      }
    }
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
    softmax(shares, from, to);
    for (std::size_t e = from; e < to; ++e) {
      add_scaled(x.row(static_cast<std::size_t>(neighbours.column[e])), shares[e], width,
                 result.row(i));
    }
  }
  return push(std::move(result),
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
                    add_scaled(g.row(i), shares[e], width, to_rows.row(j));
                    h[e] = dot(g.row(i), rows.row(j), width);
                  }
                  softmax_gradient(shares, from, to, h);
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
      add_scaled(x.row(i), share(s), x.columns, result.row(s));
    }
  }
  return push(std::move(result), [=, &nodes](Tape& tape, const Matrix& g) {
    Matrix& to = tape.sum(a);
    for (std::size_t s = 0; s < g.rows; ++s) {
      for (auto i = begin_of(nodes, s); i < begin_of(nodes, s + 1); ++i) {
        add_scaled(g.row(s), share(s), g.columns, to.row(i));
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
  return push(std::move(result), [=, winner = std::move(winner)](Tape& tape, const Matrix& g) {
    Matrix& to = tape.sum(a);
    for (std::size_t s = 0; s < g.rows; ++s) {
      for (std::size_t j = 0; j < g.columns; ++j) {
        to.at(winner[s * g.columns + j], j) += g.at(s, j);
      }
    }
  });
}

Var Tape::segment_scores(const Segments& nodes, Var a, Var queries) {
  const Matrix& x = value(a);
  const Matrix& q = value(queries);
  Matrix result(x.rows, 1);
  for (std::size_t s = 0; s < q.rows; ++s) {
    for (auto i = begin_of(nodes, s); i < begin_of(nodes, s + 1); ++i) {
      result.values[i] = dot(x.row(i), q.row(s), x.columns);
    }
  }
  return push(std::move(result), [=, &nodes](Tape& tape, const Matrix& g) {
    const Matrix& rows = tape.value(a);
    const Matrix& query = tape.value(queries);
    Matrix& to_rows = tape.sum(a);
    Matrix& to_queries = tape.sum(queries);
    for (std::size_t s = 0; s < query.rows; ++s) {
      for (auto i = begin_of(nodes, s); i < begin_of(nodes, s + 1); ++i) {
        add_scaled(query.row(s), g.values[i], rows.columns, to_rows.row(i));
        add_scaled(rows.row(i), g.values[i], rows.columns, to_queries.row(s));
      }
    }
  });
}

Var Tape::segment_attention(const Segments& nodes, Var a, Var scores) {
  const Matrix& x = value(a);
  std::vector<float> shares = value(scores).values;
  Matrix result(count_of(nodes), x.columns);
  for (std::size_t s = 0; s < result.rows; ++s) {
    softmax(shares, begin_of(nodes, s), begin_of(nodes, s + 1));
    for (auto i = begin_of(nodes, s); i < begin_of(nodes, s + 1); ++i) {
      add_scaled(x.row(i), shares[i], x.columns, result.row(s));
    }
  }
  return push(std::move(result),
              [=, &nodes, shares = std::move(shares)](Tape& tape, const Matrix& g) {
                const Matrix& rows = tape.value(a);
                Matrix& to_rows = tape.sum(a);
                std::vector<float> h(shares.size());
                for (std::size_t s = 0; s < g.rows; ++s) {
                  for (auto i = begin_of(nodes, s); i < begin_of(nodes, s + 1); ++i) {
                    add_scaled(g.row(s), shares[i], g.columns, to_rows.row(i));
                    h[i] = dot(g.row(s), rows.row(i), g.columns);
                  }
                  softmax_gradient(shares, begin_of(nodes, s), begin_of(nodes, s + 1), h);
                }
                std::vector<float>& to_scores = tape.sum(scores).values;
                for (std::size_t i = 0; i < h.size(); ++i) to_scores[i] += h[i];
              });
}

}  // namespace foretrain::learn
