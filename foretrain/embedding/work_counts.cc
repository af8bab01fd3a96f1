// SPDX-License-Identifier: Apache-2.0
#include "foretrain/embedding/work_counts.h"

#include <algorithm>
#include <array>

#include "foretrain/graph/bind.h"
#include "foretrain/graph/op.h"

namespace foretrain::embedding {
namespace {

using graph::Attr;
using graph::Bound;
using graph::Node;

double parameter_bytes(const Bound& bound, const Node& node) {
  double bytes = 0;
  for (const graph::TensorId id : node.inputs) {
    if (bound.graph->tensor(id).role == graph::Role::Parameter) bytes += bound.bytes(id);
  }
  return bytes;
}

bool sees_one_value(const Bound& bound, const Node& node) {
  const graph::Extent& weight = bound.extent(node.inputs[1]);
  double window = 1;
  for (int i = 2; i < weight.rank; ++i) window *= static_cast<double>(weight[i]);
  return window == 1;
}

WorkCounts::Gemm& gemm_of(const Bound& bound, const Node& node, WorkCounts& counts) {
  if (node.kind != graph::Kind::Conv || node.inputs.size() < 2) return counts.matrix;
  const auto groups = node.attributes.number(Attr::Groups, 1);
  if (groups <= 1) return sees_one_value(bound, node) ? counts.pointwise_conv : counts.conv;
  const graph::Extent& input = bound.extent(node.inputs.front());
  const bool depthwise = input.rank > 1 && input[1] == groups;
  return depthwise ? counts.depthwise : counts.grouped;
}

double& moved_by(const Node& node, WorkCounts& counts) {
  const graph::Family family = graph::op(node).family;
  if (family == graph::Family::Normalization) return counts.norm_bytes;
  return family == graph::Family::Pointwise ? counts.pointwise_bytes : counts.other_bytes;
}

void add(const Bound& bound, const Node& node, WorkCounts& counts) {
  const graph::Work work = graph::work({bound, node});
  ++counts.operators;
  counts.written_bytes += work.written_bytes;
  // A look-up reads a few rows of its parameters alone.
  const double read = std::max(work.read_bytes - parameter_bytes(bound, node), 0.0);
  const double moved = read + work.written_bytes;
  if (work.flops <= 0) {
    moved_by(node, counts) += moved;
    return;
  }
  WorkCounts::Gemm& gemm = gemm_of(bound, node, counts);
  gemm.flops += work.flops;
  gemm.bytes += moved;
}

WorkCounts count_batch(const graph::Graph& model, std::int64_t batch) {
  const Bound bound = graph::bind(model, {{"batch", batch}});
  WorkCounts counts;
  for (const Node& node : model.nodes) {
    if (node.phase == graph::Phase::Forward && !graph::is_view(node)) add(bound, node, counts);
  }
  for (std::size_t i = 0; i < model.tensors.size(); ++i) {
    if (model.tensors[i].role == graph::Role::Parameter) counts.parameters += bound.elements[i];
  }
  return counts;
}

constexpr std::size_t kBytes = 8;
std::array<double*, kBytes> bytes_in(WorkCounts& counts) {
  return {&counts.matrix.bytes,    &counts.pointwise_conv.bytes, &counts.conv.bytes,
          &counts.grouped.bytes,   &counts.depthwise.bytes,      &counts.norm_bytes,
          &counts.pointwise_bytes, &counts.other_bytes};
}

void divide(WorkCounts& counts, double samples) {
  for (double* one : bytes_in(counts)) *one /= samples;
  for (double* one : {&counts.matrix.flops, &counts.pointwise_conv.flops, &counts.conv.flops,
                      &counts.grouped.flops, &counts.depthwise.flops, &counts.written_bytes}) {
    *one /= samples;
  }
}

}  // namespace

double forward_flops(const WorkCounts& counts) {
  return counts.matrix.flops + counts.pointwise_conv.flops + counts.conv.flops +
         counts.grouped.flops + counts.depthwise.flops;
}

WorkCounts count_work(const graph::Graph& model, double fixed_batch) {
  WorkCounts counts = count_batch(model, 1);
  if (std::find(model.symbols.begin(), model.symbols.end(), "batch") == model.symbols.end()) {
    divide(counts, fixed_batch);
    return counts;
  }
  WorkCounts two = count_batch(model, 2);
  const std::array<double*, kBytes> of_one = bytes_in(counts);
  const std::array<double*, kBytes> of_two = bytes_in(two);
  for (std::size_t i = 0; i < kBytes; ++i) {
    const double of_sample = std::clamp(*of_two[i] - *of_one[i], 0.0, *of_one[i]);
    counts.fixed_bytes += *of_one[i] - of_sample;
    *of_one[i] = of_sample;
  }
  counts.written_bytes =
      std::clamp(two.written_bytes - counts.written_bytes, 0.0, counts.written_bytes);
  return counts;
}

}  // namespace foretrain::embedding
