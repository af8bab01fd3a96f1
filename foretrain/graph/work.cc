// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "foretrain/graph/optimizer.h"
#include "foretrain/graph/rules.h"

namespace foretrain::graph {
namespace {

// Every input read once, every output written once.
Work traffic(const NodeView& v) {
  Work work;
  for (int i = 0; i < v.inputs(); ++i) work.read_bytes += v.in_bytes(i);
  for (int i = 0; i < v.outputs(); ++i) work.written_bytes += v.out_bytes(i);
  return work;
}

double largest_count(const NodeView& v) {
  double count = 0;
  for (int i = 0; i < v.inputs(); ++i) count = std::max(count, v.in_count(i));
  for (int i = 0; i < v.outputs(); ++i) count = std::max(count, v.out_count(i));
  return count;
}

// Sum of the weights that take part in GEMMs: parameters of rank 2.
double matrix_weights(const NodeView& v) {
  double count = 0;
  for (int i = 1; i < v.inputs(); ++i) {
    if (v.in(i).rank == 2) count += v.in_count(i);
  }
  return count;
}

}  // namespace

Work work_none(const NodeView&) { return {}; }

Work work_copy(const NodeView& v) { return traffic(v); }

Work work_linear(const NodeView& v) {
  Work work = traffic(v);
  const auto inner = static_cast<double>(v.in(1)[1]);
  work.flops = 2 * v.out_count(0) * inner;
  if (v.inputs() > 2) work.vector_flops = v.out_count(0);
  return work;
}

Work work_matmul(const NodeView& v) {
  Work work = traffic(v);
  const bool transposed = v.attr(Attr::TransposeA, 0) != 0;
  work.flops = 2 * v.out_count(0) * static_cast<double>(v.in(0).from_end(transposed ? 2 : 1));
  return work;
}

// Each output value sums over the weight's input channels and window; a transposed one is
// the other way round, so each input value meets all output channels of its group.
Work work_conv(const NodeView& v) {
  Work work = traffic(v);
  const bool transposed = v.attr(Attr::Transposed, 0) != 0;
  const double per_value = v.in_count(1) / static_cast<double>(v.in(1)[0]);
  work.flops = 2 * (transposed ? v.in_count(0) : v.out_count(0)) * per_value;
  if (v.inputs() > 2) work.vector_flops = v.out_count(0);
  return work;
}

// Inputs (dy, weight, ...) for the input's gradient, (dy, x, ...) for the weight's; the
// forward pass's GEMMs once more. `Of` tells apart which count to take.
Work work_conv_grad(const NodeView& v) {
  Work work = traffic(v);
  const bool weight = v.node.kind == Kind::ConvWeightGrad;
  const bool transposed = v.attr(Attr::Transposed, 0) != 0;
  const Extent& kernel = weight ? v.out(0) : v.in(1);
  const double count = weight ? v.out_count(0) : v.in_count(1);
  const double x_count = weight ? v.in_count(1) : v.out_count(0);
  work.flops = 2 * (transposed ? x_count : v.in_count(0)) * count / static_cast<double>(kernel[0]);
  return work;
}

Work work_attention(const NodeView& v) {
  Work work = traffic(v);
  const auto keys = static_cast<double>(v.in(1)[2]);
  work.flops = 2 * (v.in_count(0) + v.out_count(0)) * keys;
  work.vector_flops = 5 * v.out_count(1) * keys;
  return work;
}

// Five GEMMs against the forward pass's two: scores are computed again.
Work work_attention_grad(const NodeView& v) {
  Work work = traffic(v);
  const auto keys = static_cast<double>(v.in(2)[2]);
  work.flops = 2.5 * 2 * (v.in_count(1) + v.in_count(4)) * keys;
  work.vector_flops = 8 * v.in_count(5) * keys;
  return work;
}

Work work_recurrent(const NodeView& v) {
  Work work = traffic(v);
  const double steps = v.in_count(0) / static_cast<double>(v.in(0)[2]);
  work.flops = 2 * steps * matrix_weights(v);
  work.vector_flops = 8 * v.out_count(2);
  return work;
}

// Inputs (dy, x, weights..., y, state, reserve).
Work work_recurrent_grad(const NodeView& v) {
  Work work = traffic(v);
  const double steps = v.in_count(1) / static_cast<double>(v.in(1)[2]);
  double weights = 0;
  for (int i = 2; i < v.inputs(); ++i) {
    if (v.in(i).rank == 2) weights += v.in_count(i);
  }
  work.flops = 4 * steps * weights;
  work.vector_flops = 16 * v.in_count(v.inputs() - 1);
  return work;
}

// Rows that are looked up are read, not the whole table.
Work work_lookup(const NodeView& v) {
  const int indices = v.node.kind == Kind::Embedding ? 0 : 1;
  Work work;
  work.read_bytes = v.out_bytes(0) + v.in_bytes(indices);
  work.written_bytes = v.out_bytes(0);
  return work;
}

// The table's gradient is filled with zeros, then the rows are added.
Work work_lookup_grad(const NodeView& v) {
  Work work = traffic(v);
  work.written_bytes += v.in_bytes(0);
  work.vector_flops = v.in_count(0);
  return work;
}

Work work_pointwise(const NodeView& v) {
  Work work = traffic(v);
  work.vector_flops = largest_count(v);
  return work;
}

// One kernel in place of several: what stays inside never reaches memory. A norm in it still
// reads its input twice.
Work work_fused(const NodeView& v) {
  Work work = traffic(v);
  const std::vector<Dim>* parts = v.node.attributes.find(Attr::Of);
  work.vector_flops =
      largest_count(v) * (parts == nullptr ? 1 : static_cast<double>(parts->size()));
  for (const Dim& part : parts == nullptr ? std::vector<Dim>{} : *parts) {
    const auto kind = static_cast<Kind>(part.factor);
    const bool frozen = kind == Kind::BatchNorm && v.attr(Attr::Frozen, 0) != 0;
    if ((kind == Kind::BatchNorm && !frozen) || kind == Kind::GroupNorm || kind == Kind::NormGrad) {
      work.read_bytes += v.in_bytes(0);
    }
  }
  return work;
}

// Batch and group norm read their input twice: statistics, then values.
Work work_norm(const NodeView& v) {
  Work work = traffic(v);
  const bool twice = v.node.kind == Kind::BatchNorm || v.node.kind == Kind::GroupNorm;
  if (twice && v.attr(Attr::Frozen, 0) == 0) work.read_bytes += v.in_bytes(0);
  work.vector_flops = 6 * v.in_count(0);
  return work;
}

// (dy, x, ...) are read for the sums over the norm's axes, then again for dx.
Work work_norm_grad(const NodeView& v) {
  Work work = traffic(v);
  work.read_bytes += v.in_bytes(0) + v.in_bytes(1);
  work.vector_flops = 10 * v.in_count(1);
  return work;
}

// Inputs are the parameters; the gradient of each has its size.
// Values and scales are read; what else the node keeps is not.
Work work_dequantize(const NodeView& v) {
  Work work;
  for (int i = 0; i < std::min(v.inputs(), 3); ++i) {
    if (!is_floating(v.in_type(i)) || v.in(i).rank == 1) work.read_bytes += v.in_bytes(i);
  }
  work.written_bytes = v.out_bytes(0);
  work.vector_flops = v.out_count(0);
  return work;
}

Work work_update(const NodeView& v) {
  const OptimizerRow& row = row_of(static_cast<Optimizer>(v.attr(Attr::Optimizer, 0)));
  double count = 0;
  for (int i = 0; i < v.inputs(); ++i) count += v.in_count(i);
  count /= 2;
  // A fused kernel reads parameter and gradient and writes the parameter; the rest are states.
  const double value = bytes_of(static_cast<DType>(v.attr(Attr::Type, 0)));
  const double state = row.form == StateForm::Blocks ? 1 : value;
  Work work;
  work.read_bytes = (2 * value + (row.reads - 2) * state) * count;
  work.written_bytes = (value + (row.writes - 1) * state) * count;
  work.vector_flops = 4 * (row.states + 1) * count;
  return work;
}

Work work_fill(const NodeView& v) {
  Work work;
  for (int i = 0; i < v.outputs(); ++i) work.written_bytes += v.out_bytes(i);
  for (int i = 0; i < v.inputs(); ++i) work.written_bytes += v.in_bytes(i);
  return work;
}

}  // namespace foretrain::graph
