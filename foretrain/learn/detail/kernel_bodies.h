// SPDX-License-Identifier: Apache-2.0
// The loops that detail/kernels.h describes. kernels.cc includes this once for each instruction
// set, with FORETRAIN_TARGET saying which.

// Rows `first` to first + Rows - 1 of a panel. Of six rows twelve registers hold the sums, two a
// row of B, one an element of A.
template <std::size_t Rows>
FORETRAIN_INLINE void tile(const Panel& panel, std::size_t first) {
  Eight sum[Rows][2] = {};
  if (panel.start != nullptr) {
    const float* start = panel.start + first * panel.start_stride;
#pragma GCC unroll 6
    for (std::size_t r = 0; r < Rows; ++r) {
      sum[r][0] = load(start + r * panel.start_stride);
      sum[r][1] = load(start + r * panel.start_stride + kLanes);
    }
  }
  const float* a = panel.a + first * panel.a_tile;
  const float* b = panel.b;
  for (std::size_t p = 0; p < panel.depth; ++p) {
    const Eight left = load(b);
    const Eight right = load(b + kLanes);
#pragma GCC unroll 6
    for (std::size_t r = 0; r < Rows; ++r) {
      const Eight factor = eight(a[r * panel.a_row]);
      sum[r][0] += factor * left;
      sum[r][1] += factor * right;
    }
    a += panel.a_step;
    b += panel.b_step;
  }
  float* c = panel.c + first * panel.c_stride;
#pragma GCC unroll 6
  for (std::size_t r = 0; r < Rows; ++r) {
    store(sum[r][0], c + r * panel.c_stride);
    store(sum[r][1], c + r * panel.c_stride + kLanes);
  }
}

FORETRAIN_TARGET void panel(const Panel& given) {
  const Panel all = given;
  std::size_t first = 0;
  for (; first + kTileRows <= all.rows; first += kTileRows) tile<kTileRows>(all, first);
  switch (all.rows - first) {
    case 5:
      return tile<5>(all, first);
    case 4:
      return tile<4>(all, first);
    case 3:
      return tile<3>(all, first);
    case 2:
      return tile<2>(all, first);
    case 1:
      return tile<1>(all, first);
    default:
      return;
  }
}

// Four sums side by side, so that a product need not wait for the one before.
FORETRAIN_TARGET void row(std::size_t depth, const float* x, const float* b, bool accumulate,
                          float* y) {
  constexpr std::size_t kParts = 4;
  Eight sum[kParts][2] = {};
  std::size_t p = 0;
  for (; p + kParts <= depth; p += kParts) {
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kParts; ++i) {
      const Eight factor = eight(x[p + i]);
      sum[i][0] += factor * load(b + (p + i) * kPanelColumns);
      sum[i][1] += factor * load(b + (p + i) * kPanelColumns + kLanes);
    }
  }
  for (; p < depth; ++p) {
    const Eight factor = eight(x[p]);
    sum[0][0] += factor * load(b + p * kPanelColumns);
    sum[0][1] += factor * load(b + p * kPanelColumns + kLanes);
  }
#pragma GCC unroll 2
  for (std::size_t half = 0; half < 2; ++half) {
    Eight total = (sum[0][half] + sum[1][half]) + (sum[2][half] + sum[3][half]);
    if (accumulate) total += load(y + half * kLanes);
    store(total, y + half * kLanes);
  }
}

FORETRAIN_TARGET void exp(std::size_t count, float* values) {
  for (std::size_t i = 0; i < count; i += kLanes) {
    store(exp_of(load(values + i, count - i)), values + i, count - i);
  }
}

FORETRAIN_TARGET void sigmoid(std::size_t count, float* values) {
  for (std::size_t i = 0; i < count; i += kLanes) {
    store(sigmoid_of(load(values + i, count - i)), values + i, count - i);
  }
}

FORETRAIN_TARGET void tanh(std::size_t count, float* values) {
  for (std::size_t i = 0; i < count; i += kLanes) {
    store(tanh_of(load(values + i, count - i)), values + i, count - i);
  }
}

FORETRAIN_TARGET void add_scaled(std::size_t count, float factor, const float* from, float* to) {
  for (std::size_t i = 0; i < count; i += kLanes) {
    const std::size_t rest = count - i;
    store(load(to + i, rest) + eight(factor) * load(from + i, rest), to + i, rest);
  }
}

FORETRAIN_TARGET float dot(std::size_t count, const float* a, const float* b) {
  Eight sum{};
  for (std::size_t i = 0; i < count; i += kLanes)
    sum += load(a + i, count - i) * load(b + i, count - i);
  return sum_of(sum);
}

// To 8 `Chunks` columns from `column` on, of which the last chunk has `rest`.
template <std::size_t Chunks>
FORETRAIN_INLINE void add_columns(std::size_t rows, std::size_t columns, const float* from,
                                  std::size_t rest, float* to) {
  Eight sum[Chunks];
  for (std::size_t c = 0; c < Chunks; ++c) sum[c] = load(to + c * kLanes, rest);
  for (std::size_t i = 0; i < rows; ++i) {
#pragma GCC unroll 4
    for (std::size_t c = 0; c < Chunks; ++c) sum[c] += load(from + i * columns + c * kLanes, rest);
  }
  for (std::size_t c = 0; c < Chunks; ++c) store(sum[c], to + c * kLanes, rest);
}

FORETRAIN_TARGET void add_rows(std::size_t rows, std::size_t columns, const float* from,
                               float* to) {
  std::size_t j = 0;
  for (; j + 4 * kLanes <= columns; j += 4 * kLanes) {
    add_columns<4>(rows, columns, from + j, kLanes, to + j);
  }
  for (; j < columns; j += kLanes) add_columns<1>(rows, columns, from + j, columns - j, to + j);
}

// r, z = sigmoid, n = tanh(x W_n + r (h U_n)), h' = (1 - z) n + z h.
// Two loops, so that the processor works on several groups of eight at once.
FORETRAIN_TARGET void gru(const GruRow& given) {
  const GruRow row = given;
  for (std::size_t j = 0; j < 2 * row.width; j += kLanes) {
    const std::size_t rest = 2 * row.width - j;
    store(sigmoid_of(load(row.gates + j, rest) + load(row.sums + j, rest)), row.gates + j, rest);
  }
  for (std::size_t j = 0; j < row.width; j += kLanes) {
    const std::size_t rest = row.width - j;
    float* gate = row.gates + j;
    const Eight recurrent = load(row.sums + 2 * row.width + j, rest);
    const Eight n = tanh_of(load(gate + 2 * row.width, rest) + load(gate, rest) * recurrent);
    const Eight z = load(gate + row.width, rest);
    store(n, gate + 2 * row.width, rest);
    store(recurrent, row.recurrent + j, rest);
    store(n + z * (load(row.state + j, rest) - n), row.result + j, rest);
  }
}

FORETRAIN_TARGET void gru_gradient(const GruRowGradient& given) {
  const GruRowGradient row = given;
  const Eight one = eight(1);
  for (std::size_t j = 0; j < row.width; j += kLanes) {
    const std::size_t rest = row.width - j;
    const Eight r = load(row.gates + j, rest);
    const Eight z = load(row.gates + row.width + j, rest);
    const Eight n = load(row.gates + 2 * row.width + j, rest);
    const Eight change = load(row.change + j, rest);
    const Eight to_n = change * (one - z) * (one - n * n);
    const Eight to_z = change * (load(row.state + j, rest) - n) * z * (one - z);
    const Eight to_r = to_n * load(row.recurrent + j, rest) * r * (one - r);
    for (float* to : {row.to_input, row.to_state}) {
      store(to_r, to + j, rest);
      store(to_z, to + row.width + j, rest);
    }
    store(to_n, row.to_input + 2 * row.width + j, rest);
    store(to_n * r, row.to_state + 2 * row.width + j, rest);
    store(change * z, row.to_old + j, rest);
  }
}

FORETRAIN_INLINE Eight leaky(const Eight& x, float slope) {
  return x > Eight{} ? x : eight(slope) * x;
}

FORETRAIN_TARGET void sparse_row(const SparseRow& given) {
  const SparseRow row = given;
  std::size_t j = 0;
  for (; j + 4 * kLanes <= row.width; j += 4 * kLanes) {
    Eight sum[4] = {};
    for (std::size_t e = 0; e < row.entries; ++e) {
      const float* x = row.x + static_cast<std::size_t>(row.column[e]) * row.width + j;
      const Eight factor = eight(row.value[e]);
#pragma GCC unroll 4
      for (std::size_t i = 0; i < 4; ++i) sum[i] += factor * load(x + i * kLanes);
    }
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t at = j + i * kLanes;
      if (row.bias != nullptr) sum[i] += load(row.bias + at);
      store(leaky(sum[i], row.slope), row.result + at);
    }
  }
  for (; j < row.width; j += kLanes) {
    const std::size_t rest = row.width - j;
    Eight sum{};
    for (std::size_t e = 0; e < row.entries; ++e) {
      const float* x = row.x + static_cast<std::size_t>(row.column[e]) * row.width + j;
      sum += eight(row.value[e]) * load(x, rest);
    }
    if (row.bias != nullptr) sum += load(row.bias + j, rest);
    store(leaky(sum, row.slope), row.result + j, rest);
  }
}

FORETRAIN_TARGET void leaky_gradient(std::size_t count, float slope, const float* y, const float* g,
                                     float* to) {
  for (std::size_t i = 0; i < count; i += kLanes) {
    const std::size_t rest = count - i;
    const Eight change = load(g + i, rest);
    store(load(y + i, rest) > Eight{} ? change : eight(slope) * change, to + i, rest);
  }
}

constexpr Kernels kKernels{
    .panel = panel,
    .row = row,
    .exp = exp,
    .sigmoid = sigmoid,
    .tanh = tanh,
    .add_scaled = add_scaled,
    .dot = dot,
    .add_rows = add_rows,
    .gru = gru,
    .gru_gradient = gru_gradient,
    .sparse_row = sparse_row,
    .leaky_gradient = leaky_gradient,
};
