// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/gemm.h"

#include <algorithm>
#include <cassert>

#include "foretrain/learn/detail/kernels.h"

namespace foretrain::learn {
namespace {

// Rows of A and B per pass, so that what is read again and again stays in the caches.
constexpr std::size_t kDepth = 256;

// Where 16 columns of B lie: row p of them at data[p * stride].
struct Panel {
  const float* data;
  std::size_t stride;
};

// The columns of C from `column` on, at most 16, for all rows.
void multiply_panel(const GemmShape& shape, const Factor& a, const Panel& b, std::size_t column,
                    bool accumulate, float* c, std::size_t c_stride) {
  const Kernels& kernel = kernels();
  const bool plain = a.layout == Layout::Plain;
  const std::size_t a_row = plain ? a.stride : 1;
  const std::size_t a_step = plain ? 1 : a.stride;
  const std::size_t columns = std::min(kTileColumns, shape.n - column);
  for (std::size_t i = 0; i < shape.m; i += kTileRows) {
    const std::size_t rows = std::min(kTileRows, shape.m - i);
    Tile tile{shape.k,    a.data + i * a_row,        a_row,   a_step, b.data, b.stride,
              accumulate, c + i * c_stride + column, c_stride};
    if (columns == kTileColumns) {
      kernel.tile[rows - 1](tile);
      continue;
    }
    float edge[kTileRows * kTileColumns];
    float* whole = tile.c;
    if (accumulate) {
      for (std::size_t r = 0; r < rows; ++r) {
        std::copy_n(whole + r * c_stride, columns, edge + r * kTileColumns);
        std::fill_n(edge + r * kTileColumns + columns, kTileColumns - columns, 0.0F);
      }
    }
    tile.c = edge;
    tile.c_stride = kTileColumns;
    kernel.tile[rows - 1](tile);
    for (std::size_t r = 0; r < rows; ++r) {
      std::copy_n(edge + r * kTileColumns, columns, whole + r * c_stride);
    }
  }
}

void pack_panel(const Factor& factor, std::size_t column, std::size_t rows, std::size_t columns,
                float* packed) {
  for (std::size_t p = 0; p < rows; ++p, packed += kTileColumns) {
    if (factor.layout == Layout::Plain) {
      std::copy_n(factor.data + p * factor.stride + column, columns, packed);
    } else {
      for (std::size_t j = 0; j < columns; ++j) {
        packed[j] = factor.data[(column + j) * factor.stride + p];
      }
    }
    std::fill_n(packed + columns, kTileColumns - columns, 0.0F);
  }
}

}  // namespace

void pack(const Factor& factor, std::size_t rows, std::size_t columns, PackedMatrix& packed) {
  packed.rows = rows;
  packed.columns = columns;
  packed.values.resize((columns + kTileColumns - 1) / kTileColumns * kTileColumns * rows);
  for (std::size_t column = 0; column < columns; column += kTileColumns) {
    pack_panel(factor, column, rows, std::min(kTileColumns, columns - column),
               packed.values.data() + column * rows);
  }
}

void gemm(const GemmShape& shape, const Factor& a, const PackedMatrix& b, bool accumulate, float* c,
          std::size_t c_stride) {
  assert(shape.k <= b.rows && shape.n <= b.columns);
  for (std::size_t column = 0; column < shape.n; column += kTileColumns) {
    const Panel panel{b.values.data() + column * b.rows, kTileColumns};
    multiply_panel(shape, a, panel, column, accumulate, c, c_stride);
  }
}

void gemm(const GemmShape& shape, const Factor& a, const Factor& b, bool accumulate, float* c,
          std::size_t c_stride) {
  thread_local PackedMatrix packed;
  for (std::size_t from = 0; from == 0 || from < shape.k; from += kDepth) {
    const GemmShape part{shape.m, shape.n, std::min(kDepth, shape.k - from)};
    const auto later = [&](const Factor& factor, bool down) {
      return Factor{factor.data + (down ? from * factor.stride : from), factor.stride,
                    factor.layout};
    };
    const Factor left = later(a, a.layout == Layout::Transposed);
    const Factor right = later(b, b.layout == Layout::Plain);
    const bool sum = accumulate || from > 0;
    if (b.layout == Layout::Plain && shape.n % kTileColumns == 0) {
      for (std::size_t column = 0; column < shape.n; column += kTileColumns) {
        multiply_panel(part, left, {right.data + column, right.stride}, column, sum, c, c_stride);
      }
    } else {
      pack(right, part.k, part.n, packed);
      gemm(part, left, packed, sum, c, c_stride);
    }
  }
}

void row_times(const float* x, const PackedMatrix& b, bool accumulate, float* y) {
  const Kernels& kernel = kernels();
  std::size_t column = 0;
  for (; column + kTileColumns <= b.columns; column += kTileColumns) {
    kernel.row(b.rows, x, b.values.data() + column * b.rows, accumulate, y + column);
  }
  if (column == b.columns) return;
  const std::size_t rest = b.columns - column;
  float edge[kTileColumns] = {};
  if (accumulate) std::copy_n(y + column, rest, edge);
  kernel.row(b.rows, x, b.values.data() + column * b.rows, accumulate, edge);
  std::copy_n(edge, rest, y + column);
}

}  // namespace foretrain::learn
