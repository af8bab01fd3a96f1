// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace foretrain::learn {

// Row by row, single precision.
struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<float> values{};

  Matrix() = default;
  Matrix(std::size_t row_count, std::size_t column_count, float value = 0)
      : rows(row_count), columns(column_count), values(row_count * column_count, value) {}

  float* row(std::size_t i) { return values.data() + i * columns; }
  const float* row(std::size_t i) const { return values.data() + i * columns; }
  float& at(std::size_t i, std::size_t j) { return values[i * columns + j]; }
  float at(std::size_t i, std::size_t j) const { return values[i * columns + j]; }
};

// A square matrix with few entries, row by row; those of row i are first[i] to first[i + 1]. Here
// always symmetric: the neighbours in graphs without direction.
struct Sparse {
  std::vector<std::int32_t> first{0};
  std::vector<std::int32_t> column{};
  std::vector<float> value{};

  std::size_t rows() const { return first.size() - 1; }
};

// Several graphs as one: their nodes stand one after the other, those of graph g are nodes[g] to
// nodes[g + 1].
using Segments = std::vector<std::int32_t>;

}  // namespace foretrain::learn
