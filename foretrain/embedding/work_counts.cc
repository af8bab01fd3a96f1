// SPDX-License-Identifier: Apache-2.0
#include "foretrain/embedding/work_counts.h"

#include <algorithm>

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

// Where the FLOPs of a convolution count.
double& conv_flops(const Bound& bound, const Node& node, WorkCounts& counts) {
  const auto groups = node.attributes.number(Attr::Groups, 1);
  if (groups <= 1) return counts.conv_flops;
  const graph::Extent& input = bound.extent(node.inputs.front());
  const bool depthwise = input.rank > 1 && input[1] == groups;
  return depthwise ? counts.depthwise_flops : counts.grouped_flops;
}

void add(const Bound& bound, const Node& node, WorkCounts& counts) {
  const graph::Work work = graph::work({bound, node});
  ++counts.operators;
  counts.written_bytes += work.written_bytes;
  // A look-up reads a few rows of its parameters alone.
  const double read = std::max(work.read_bytes - parameter_bytes(bound, node), 0.0);
  const double moved = read + work.written_bytes;
  if (work.flops <= 0) {
    counts.moved_bytes += moved;
    return;
  }
  counts.gemm_bytes += moved;
  const bool conv = node.kind == graph::Kind::Conv && !node.inputs.empty();
  (conv ? conv_flops(bound, node, counts) : counts.matrix_flops) += work.flops;
}

}  // namespace

double forward_flops(const WorkCounts& counts) {
  return counts.matrix_flops + counts.conv_flops + counts.grouped_flops + counts.depthwise_flops;
}

WorkCounts count_work(const graph::Graph& model) {
  const Bound bound = graph::bind(model, {{"batch", 1}});
  WorkCounts counts;
  for (const Node& node : model.nodes) {
    if (node.phase == graph::Phase::Forward && !graph::is_view(node)) add(bound, node, counts);
  }
  for (std::size_t i = 0; i < model.tensors.size(); ++i) {
    if (model.tensors[i].role == graph::Role::Parameter) counts.parameters += bound.elements[i];
  }
  return counts;
}

}  // namespace foretrain::embedding
