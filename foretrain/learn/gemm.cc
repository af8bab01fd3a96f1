// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/gemm.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "foretrain/learn/detail/kernels.h"

namespace foretrain::learn {
namespace {

// Rows of B per pass, so that what is read again and again stays in the caches.
constexpr std::size_t kDepth = 256;

// What a product is added to: rows `stride` apart, or one row for all with stride 0; null: zeros.
struct Start {
  const float* data;
  std::size_t stride;
};

// At most 16 columns of C, which are fewer than a panel's: worked out beside it.
void multiply_edge(Panel panel, std::size_t columns) {
  std::vector<float> edge(panel.rows * kPanelColumns);
  for (std::size_t r = 0; panel.start != nullptr && r < panel.rows; ++r) {
    std::copy_n(panel.start + r * panel.start_stride, columns, edge.data() + r * kPanelColumns);
  }
  float* c = panel.c;
  const std::size_t c_stride = panel.c_stride;
  panel.start = panel.c = edge.data();
  panel.start_stride = panel.c_stride = kPanelColumns;
  kernels().panel(panel);
  for (std::size_t r = 0; r < panel.rows; ++r) {
    std::copy_n(edge.data() + r * kPanelColumns, columns, c + r * c_stride);
  }
}

// Where the left factor lies, as Panel says.
struct Left {
  const float* data;
  std::size_t tile;
  std::size_t row;
  std::size_t step;
};

// A transposed left factor is put in the order in which its tiles are read: its rows would fall on
// few lines of the first cache.
Left left_of(const Factor& a, std::size_t rows, std::size_t depth, std::vector<float>& packed) {
  if (a.layout == Layout::Plain) return {a.data, a.stride, a.stride, 1};
  packed.resize((rows + kTileRows) * depth);
  float* to = packed.data();
  for (std::size_t first = 0; first < rows; first += kTileRows) {
    const float* from = a.data + first;
    if (first + kTileRows <= rows) {
      for (std::size_t p = 0; p < depth; ++p, from += a.stride, to += kTileRows) {
        std::memcpy(to, from, kTileRows * sizeof(float));
      }
    } else {
      for (std::size_t p = 0; p < depth; ++p, from += a.stride, to += kTileRows) {
        std::copy_n(from, rows - first, to);
      }
    }
  }
  return {packed.data(), depth, 1, kTileRows};
}

// The right factor by panels: where they begin, one after the other, and how far its rows are
// apart.
struct Right {
  const float* data;
  std::size_t panel;
  std::size_t step;
};

void multiply(const GemmShape& shape, const Factor& a, const Right& b, const Start& start, float* c,
              std::size_t c_stride) {
  thread_local std::vector<float> packed;
  const Left left = left_of(a, shape.m, shape.k, packed);
  for (std::size_t column = 0; column < shape.n; column += kPanelColumns) {
    const Panel panel{.rows = shape.m,
                      .depth = shape.k,
                      .a = left.data,
                      .a_tile = left.tile,
                      .a_row = left.row,
                      .a_step = left.step,
                      .b = b.data + column / kPanelColumns * b.panel,
                      .b_step = b.step,
                      .start = start.data == nullptr ? nullptr : start.data + column,
                      .start_stride = start.stride,
                      .c = c + column,
                      .c_stride = c_stride};
    if (column + kPanelColumns <= shape.n) {
      kernels().panel(panel);
    } else {
      multiply_edge(panel, shape.n - column);
    }
  }
}

Right right_of(const PackedMatrix& b) {
  return {b.values.data(), b.rows * kPanelColumns, kPanelColumns};
}

void pack_panel(const Factor& factor, std::size_t column, std::size_t rows, std::size_t columns,
                float* packed) {
  for (std::size_t p = 0; p < rows; ++p, packed += kPanelColumns) {
    if (factor.layout == Layout::Plain) {
      std::copy_n(factor.data + p * factor.stride + column, columns, packed);
    } else {
      for (std::size_t j = 0; j < columns; ++j) {
        packed[j] = factor.data[(column + j) * factor.stride + p];
      }
    }
    std::fill_n(packed + columns, kPanelColumns - columns, 0.0F);
  }
}

}  // namespace

void pack(const Factor& factor, std::size_t rows, std::size_t columns, PackedMatrix& packed) {
  packed.rows = rows;
  packed.columns = columns;
  packed.values.resize((columns + kPanelColumns - 1) / kPanelColumns * kPanelColumns * rows);
  for (std::size_t column = 0; column < columns; column += kPanelColumns) {
    pack_panel(factor, column, rows, std::min(kPanelColumns, columns - column),
               packed.values.data() + column * rows);
  }
}

void gemm(const GemmShape& shape, const Factor& a, const PackedMatrix& b, bool accumulate, float* c,
          std::size_t c_stride) {
  assert(shape.k <= b.rows && shape.n <= b.columns);
  multiply(shape, a, right_of(b), {accumulate ? c : nullptr, c_stride}, c, c_stride);
}

void gemm_plus_row(const GemmShape& shape, const Factor& a, const PackedMatrix& b, const float* row,
                   float* c, std::size_t c_stride) {
  assert(shape.k <= b.rows && shape.n <= b.columns);
  multiply(shape, a, right_of(b), {row, 0}, c, c_stride);
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
    const Start start{accumulate || from > 0 ? c : nullptr, c_stride};
    if (b.layout == Layout::Plain && shape.n % kPanelColumns == 0) {
      multiply(part, left, {right.data, kPanelColumns, right.stride}, start, c, c_stride);
    } else {
      pack(right, part.k, part.n, packed);
      multiply(part, left, right_of(packed), start, c, c_stride);
    }
  }
}

void row_times(const float* x, const PackedMatrix& b, bool accumulate, float* y) {
  const Kernels& kernel = kernels();
  std::size_t column = 0;
  for (; column + kPanelColumns <= b.columns; column += kPanelColumns) {
    kernel.row(b.rows, x, b.values.data() + column * b.rows, accumulate, y + column);
  }
  if (column == b.columns) return;
  const std::size_t rest = b.columns - column;
  float edge[kPanelColumns] = {};
  if (accumulate) std::copy_n(y + column, rest, edge);
  kernel.row(b.rows, x, b.values.data() + column * b.rows, accumulate, edge);
  std::copy_n(edge, rest, y + column);
}

}  // namespace foretrain::learn
