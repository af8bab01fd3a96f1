// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/gemm.h"

#include <algorithm>
#include <vector>

#include "foretrain/learn/detail/gemm_kernel.h"

namespace foretrain::learn {
namespace {

// Blocks that stay in the caches: kRows x kDepth of A in L2, kDepth x kColumns of B in L3.
constexpr std::size_t kRows = 96;
constexpr std::size_t kDepth = 256;
constexpr std::size_t kColumns = 1024;

std::size_t rounded_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Where a factor lies: element (i, j) is data[i * row + j * column].
struct View {
  const float* data;
  std::size_t row;
  std::size_t column;
};

// Panels of `Width` lines, each element by element across the lines, filled up with zeros: of A
// these lines are rows, of B columns. `along` is the distance of neighbours on a line, `across`
// that of neighbouring lines.
template <std::size_t Width>
void pack(const float* data, std::size_t along, std::size_t across, std::size_t lines,
          std::size_t depth, float* packed) {
  for (std::size_t panel = 0; panel < lines; panel += Width) {
    const float* from = data + panel * across;
    const std::size_t filled = std::min(Width, lines - panel);
    if (filled == Width && across == 1) {
      for (std::size_t p = 0; p < depth; ++p, packed += Width) {
        std::copy_n(from + p * along, Width, packed);
      }
    } else if (filled == Width) {
      for (std::size_t p = 0; p < depth; ++p, packed += Width) {
        for (std::size_t i = 0; i < Width; ++i) packed[i] = from[p * along + i * across];
      }
    } else {
      for (std::size_t p = 0; p < depth; ++p, packed += Width) {
        for (std::size_t i = 0; i < Width; ++i) {
          packed[i] = i < filled ? from[p * along + i * across] : 0;
        }
      }
    }
  }
}

struct Block {
  std::size_t row;
  std::size_t rows;
  std::size_t column;
  std::size_t columns;
  std::size_t depth;
};

void multiply(const Block& block, const float* a, const float* b, std::size_t n, Kernel kernel,
              float* c) {
  float edge[kTileRows * kTileColumns];
  for (std::size_t j = 0; j < block.columns; j += kTileColumns) {
    const float* b_panel = b + j * block.depth;
    for (std::size_t i = 0; i < block.rows; i += kTileRows) {
      const float* a_panel = a + i * block.depth;
      float* tile = c + (block.row + i) * n + block.column + j;
      const std::size_t rows = std::min(kTileRows, block.rows - i);
      const std::size_t columns = std::min(kTileColumns, block.columns - j);
      if (rows == kTileRows && columns == kTileColumns) {
        kernel(block.depth, a_panel, b_panel, n, tile);
        continue;
      }
      std::fill(std::begin(edge), std::end(edge), 0.0F);
      kernel(block.depth, a_panel, b_panel, kTileColumns, edge);
      for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t s = 0; s < columns; ++s) tile[r * n + s] += edge[r * kTileColumns + s];
      }
    }
  }
}

}  // namespace

void gemm(const GemmShape& shape, Layout a_layout, const float* a, Layout b_layout, const float* b,
          bool accumulate, float* c) {
  if (!accumulate) std::fill(c, c + shape.m * shape.n, 0.0F);
  static const Kernel kernel = fastest_kernel();
  const bool a_plain = a_layout == Layout::Plain;
  const bool b_plain = b_layout == Layout::Plain;
  const View left{a, a_plain ? shape.k : 1, a_plain ? 1 : shape.m};
  const View right{b, b_plain ? shape.n : 1, b_plain ? 1 : shape.k};
  thread_local std::vector<float> a_packed;
  thread_local std::vector<float> b_packed;
  for (std::size_t column = 0; column < shape.n; column += kColumns) {
    const std::size_t columns = std::min(kColumns, shape.n - column);
    for (std::size_t from = 0; from < shape.k; from += kDepth) {
      const std::size_t depth = std::min(kDepth, shape.k - from);
      b_packed.resize(rounded_up(columns, kTileColumns) * depth);
      pack<kTileColumns>(right.data + from * right.row + column * right.column, right.row,
                         right.column, columns, depth, b_packed.data());
      for (std::size_t row = 0; row < shape.m; row += kRows) {
        const std::size_t rows = std::min(kRows, shape.m - row);
        a_packed.resize(rounded_up(rows, kTileRows) * depth);
        pack<kTileRows>(left.data + row * left.row + from * left.column, left.column, left.row,
                        rows, depth, a_packed.data());
        multiply({row, rows, column, columns, depth}, a_packed.data(), b_packed.data(), shape.n,
                 kernel, c);
      }
    }
  }
}

}  // namespace foretrain::learn
