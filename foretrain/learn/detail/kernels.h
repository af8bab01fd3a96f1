// SPDX-License-Identifier: Apache-2.0
// The inner loops of networks. Each is written once and compiled twice, for processors with AVX2
// and for any; `kernels()` gives those that this processor runs fastest. With AVX2 products and
// sums are fused, which changes last bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace foretrain::learn {

inline constexpr std::size_t kTileRows = 6;
inline constexpr std::size_t kPanelColumns = 16;

// 16 columns of a product: c[r][s] = start[r * start_stride + s] + sum over p of a_rp b[p * b_step
// + s], for r < rows and s < 16. The rows of A come in tiles of six: element (r, p) lies at a[(r -
// r % 6) * a_tile + (r % 6) * a_row + p * a_step].
struct Panel {
  std::size_t rows;
  std::size_t depth;
  const float* a;
  std::size_t a_tile;
  std::size_t a_row;
  std::size_t a_step;
  const float* b;
  std::size_t b_step;
  const float* start;  // null: zeros
  std::size_t start_stride;
  float* c;
  std::size_t c_stride;
};

// One row through a GRU, whose sums of products are known. Gates are reset r, update z and
// candidate n, `width` numbers each.
struct GruRow {
  std::size_t width;
  const float* state;  // h
  const float* sums;   // h U
  float* gates;        // in: x W; out: r, z, n
  float* recurrent;    // out: h U_n
  float* result;       // out: the new state
};

// The gradient of one row. What is written: that of the sums x W and h U, and h's own share.
struct GruRowGradient {
  std::size_t width;
  const float* change;  // of the new state
  const float* state;
  const float* recurrent;
  const float* gates;  // r, z, n
  float* to_input;     // 3 x width: of x W
  float* to_state;     // 3 x width: of h U
  float* to_old;       // width: what h passes on by itself
};

// A row of a sparse matrix times x, plus a bias, through a leaky ReLU.
struct SparseRow {
  std::size_t width;
  const std::int32_t* column;
  const float* value;
  std::size_t entries;
  const float* x;
  const float* bias;  // none: null
  float slope;        // 1: no ReLU
  float* result;
};

struct Kernels {
  void (*panel)(const Panel& panel);
  // y[s] = or += sum over p of x[p] b[16 p + s], s < 16.
  void (*row)(std::size_t depth, const float* x, const float* b, bool accumulate, float* y);
  void (*exp)(std::size_t count, float* values);
  void (*sigmoid)(std::size_t count, float* values);
  void (*tanh)(std::size_t count, float* values);
  // to[i] += factor from[i].
  void (*add_scaled)(std::size_t count, float factor, const float* from, float* to);
  float (*dot)(std::size_t count, const float* a, const float* b);
  // to[j] += sum over the rows i of from[i * columns + j].
  void (*add_rows)(std::size_t rows, std::size_t columns, const float* from, float* to);
  void (*gru)(const GruRow& row);
  void (*gru_gradient)(const GruRowGradient& row);
  void (*sparse_row)(const SparseRow& row);
  // g[i] times the slope of a leaky ReLU whose result was y[i].
  void (*leaky_gradient)(std::size_t count, float slope, const float* y, const float* g, float* to);
};
const Kernels& kernels();
const Kernels& plain_kernels();  // those for any processor

}  // namespace foretrain::learn
