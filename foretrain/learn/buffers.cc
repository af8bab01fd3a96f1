// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/buffers.h"

#include <bit>

namespace foretrain::learn {

Matrix Buffers::take(std::size_t rows, std::size_t columns) {
  Matrix matrix;
  matrix.rows = rows;
  matrix.columns = columns;
  const std::size_t size = rows * columns;
  if (size == 0) return matrix;
  const std::size_t capacity = std::bit_ceil(size);
  std::vector<std::vector<float>>& spare = spare_[std::bit_width(capacity) - 1];
  if (spare.empty()) {
    matrix.values.reserve(capacity);
  } else {
    matrix.values = std::move(spare.back());
    spare.pop_back();
  }
  matrix.values.resize(size);
  return matrix;
}

void Buffers::give_back(Matrix&& matrix) {
  std::vector<float> values = std::move(matrix.values);
  if (values.capacity() == 0) return;
  spare_[std::bit_width(values.capacity()) - 1].push_back(std::move(values));
}

}  // namespace foretrain::learn
