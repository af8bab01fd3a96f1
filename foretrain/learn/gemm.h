// SPDX-License-Identifier: Apache-2.0
// Matrix products (GEMM) in single precision. They use AVX2 where the processor has it; the sums
// are then fused and differ in the last bits from those of processors without. A row of a result
// has the same bits whatever rows stand beside it.
#pragma once

#include <cstddef>
#include <vector>

namespace foretrain::learn {

// Whether a factor is taken as it lies in memory or transposed.
enum class Layout { Plain, Transposed };

// A matrix in memory, row by row; rows begin `stride` apart.
struct Factor {
  const float* data = nullptr;
  std::size_t stride = 0;
  Layout layout = Layout::Plain;
};

// A right factor in the order in which products read it: panels of 16 columns, each row by row,
// filled up with zeros.
struct PackedMatrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<float> values{};
};
void pack(const Factor& factor, std::size_t rows, std::size_t columns, PackedMatrix& packed);

// C = A B, or C += A B with `accumulate`: A has m rows and k columns, B k rows and n columns, C m
// rows and n columns, its rows `c_stride` apart. Of a packed B the first k rows and n columns
// count.
struct GemmShape {
  std::size_t m = 0;
  std::size_t n = 0;
  std::size_t k = 0;
};
void gemm(const GemmShape& shape, const Factor& a, const PackedMatrix& b, bool accumulate, float* c,
          std::size_t c_stride);
void gemm(const GemmShape& shape, const Factor& a, const Factor& b, bool accumulate, float* c,
          std::size_t c_stride);

// C = A B + row, the same row to every row.
void gemm_plus_row(const GemmShape& shape, const Factor& a, const PackedMatrix& b, const float* row,
                   float* c, std::size_t c_stride);

// y = x B, or y += x B, of one row x of B's rows: the sums are taken in four parts, which is faster
// than a product of one row.
void row_times(const float* x, const PackedMatrix& b, bool accumulate, float* y);

}  // namespace foretrain::learn
