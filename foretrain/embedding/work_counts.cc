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

// What may grow with the batch: FLOPs, then bytes.
constexpr std::size_t kFlops = 5;
constexpr std::size_t kGrowing = kFlops + 8;
std::array<double*, kGrowing> growing(WorkCounts& counts) {
  return {&counts.matrix.flops,         &counts.pointwise_conv.flops, &counts.conv.flops,
          &counts.grouped.flops,        &counts.depthwise.flops,      &counts.matrix.bytes,
          &counts.pointwise_conv.bytes, &counts.conv.bytes,           &counts.grouped.bytes,
          &counts.depthwise.bytes,      &counts.norm_bytes,           &counts.pointwise_bytes,
          &counts.other_bytes};
}

}  // namespace

double forward_flops(const WorkCounts& counts) {
  return counts.matrix.flops + counts.pointwise_conv.flops + counts.conv.flops +
         counts.grouped.flops + counts.depthwise.flops;
}

WorkCounts count_work(const graph::Graph& model) {
  const WorkCounts one = count_batch(model, 1);
  WorkCounts counts = one;
  const WorkCounts two = count_batch(model, 2);
  const std::array<double*, kGrowing> of_sample = growing(counts);
  WorkCounts of_one = one;
  WorkCounts of_two = two;
  const std::array<double*, kGrowing> small = growing(of_one);
  const std::array<double*, kGrowing> large = growing(of_two);
  // A graph of one fixed batch is taken as it is.
  if (two.written_bytes == one.written_bytes) return counts;
  for (std::size_t i = 0; i < kGrowing; ++i) {
    *of_sample[i] = std::clamp(*large[i] - *small[i], 0.0, *small[i]);
    if (i >= kFlops) counts.fixed_bytes += *small[i] - *of_sample[i];
  }
  counts.written_bytes = std::min(one.written_bytes, two.written_bytes - one.written_bytes);
  return counts;
}

}  // namespace foretrain::embedding
