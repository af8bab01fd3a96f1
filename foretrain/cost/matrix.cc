// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "foretrain/cost/detail/families.h"
#include "foretrain/cost/detail/gemm.h"

namespace foretrain::cost {
namespace {

using graph::Attr;
using graph::Kind;
using graph::NodeView;

Gemm linear_gemm(const NodeView& v) {
  Gemm g;
  g.n = static_cast<double>(v.in(1)[0]);
  g.k = static_cast<double>(v.in(1)[1]);
  g.m = v.out_count(0) / g.n;
  return g;
}

// A right operand without batch is shared by all rows, so the batch joins them.
Gemm matmul_gemm(const NodeView& v) {
  Gemm g;
  const bool transposed = v.attr(Attr::TransposeA, 0) != 0;
  g.m = static_cast<double>(v.out(0).from_end(2));
  g.n = static_cast<double>(v.out(0).from_end(1));
  g.k = static_cast<double>(v.in(0).from_end(transposed ? 2 : 1));
  g.batch = v.out_count(0) / (g.m * g.n);
  g.batched = v.in(1).rank > 2;
  if (!g.batched) {
    g.m *= g.batch;
    g.batch = 1;
  }
  return g;
}

// Eager PyTorch runs 4-D GEMMs as 3-D ones and copies what is not contiguous: heads that
// were split off by a transpose (queries, keys, values), never scores. Two passes each.
double copied_bytes(const NodeView& v) {
  if (!graph::is_forward(v.node) || v.in(0).rank < 4 || v.in(1).rank < 4) return 0;
  const bool scores = v.attr(Attr::TransposeB, 0) != 0;
  return 2 * (v.in_bytes(1) + (scores ? v.in_bytes(0) : 0));
}

void add_pass(OpTime& time, double bytes, const Context& context) {
  if (bytes <= 0) return;
  const Seconds extra{bytes / context.memory_bytes_per_s + context.launch_s};
  time.total += extra;
  time.memory += extra;
  time.kernels += 1;
}

// Heads of a batched 16-bit GEMM lie beside each other, each a row of head-size values. cuBLAS'
// tensor core kernels load 16 bytes at once, so each head has to begin at a multiple of that: the
// sum of scores (queries by keys transposed), the columns of the values otherwise.
bool misaligned_heads(const NodeView& v, const Gemm& g) {
  if (!g.batched || v.in(0).rank < 4 || v.in(1).rank < 4) return false;
  constexpr double kBytes = 16;
  const bool scores = v.attr(Attr::TransposeB, 0) != 0;
  return std::fmod((scores ? g.k : g.n) * g.in_bytes, kBytes) != 0;
}

// FP8 GEMMs cast their left operand and keep its transpose: 2 bytes read, 2 written. The
// weight gradient finds both operands cast already.
double cast_bytes(const NodeView& v, bool weights, const Context& context) {
  if (context.precision != Precision::Fp8 || !context.tensor_cores || !weights) return 0;
  return v.attr(Attr::TransposeA, 0) != 0 ? 0 : 4 * v.in_count(0);
}

}  // namespace

OpTime matrix_time(const NodeView& v, const Context& context) {
  const bool linear = v.node.kind == Kind::Linear;
  Gemm g = linear ? linear_gemm(v) : matmul_gemm(v);
  g.in_bytes = bytes_of(v.in_type(0));
  g.out_bytes = bytes_of(v.out_type(0));
  const bool weights = linear || v.in(1).rank == 2;
  const bool slow = context.tensor_cores && misaligned_heads(v, g);
  OpTime time = slow ? gemm_vector(g, context) : gemm_time(g, v.in_type(0), weights, context);
  if (!linear && context.framework->copies_heads) add_pass(time, copied_bytes(v), context);
  add_pass(time, cast_bytes(v, weights, context), context);
  return time;
}

}  // namespace foretrain::cost
