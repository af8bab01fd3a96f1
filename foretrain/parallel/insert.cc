// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/detail/insert.h"

#include <utility>

#include "foretrain/graph/offload.h"
#include "foretrain/graph/rules.h"

namespace foretrain::parallel {

graph::Node communication(graph::Kind kind, std::vector<graph::TensorId> tensors,
                          graph::Waiting waiting) {
  graph::Node node;
  node.kind = kind;
  node.phase = graph::Phase::Update;
  node.inputs = std::move(tensors);
  if (waiting != graph::Waiting::Readers) {
    node.attributes.set(graph::Attr::Waiting, {graph::Dim(static_cast<std::int64_t>(waiting))});
  }
  return node;
}

bool exchanges_parameters(const graph::Node& node) {
  return graph::is_communication(node) && !graph::is_activation_exchange(node) &&
         !graph::is_offload(node);
}

void append_with_shapes(graph::Graph& step, graph::Node node) {
  if (graph::op(node).infer != graph::infer_given) {
    graph::Shapes inputs;
    for (const graph::TensorId id : node.inputs) inputs.push_back(step.tensor(id).shape);
    const graph::Shapes outputs = graph::op(node).infer(node, inputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      step.tensor(node.outputs[i]).shape = outputs[i];
    }
  }
  step.nodes.push_back(std::move(node));
}

void insert(graph::Graph& step, std::vector<Insertion> insertions) {
  std::vector<graph::Node> nodes;
  nodes.reserve(step.nodes.size() + insertions.size());
  auto next = insertions.begin();
  const auto take_those_after = [&](graph::NodeId place) {
    for (; next != insertions.end() && next->after <= place; ++next) {
      nodes.push_back(std::move(next->node));
    }
  };
  take_those_after(kFront);
  for (std::size_t n = 0; n < step.nodes.size(); ++n) {
    nodes.push_back(std::move(step.nodes[n]));
    take_those_after(static_cast<graph::NodeId>(n));
  }
  step.nodes = std::move(nodes);
}

void add_buckets(graph::Graph& step, graph::Kind kind, const std::vector<graph::Bucket>& buckets) {
  std::vector<Insertion> insertions;
  insertions.reserve(buckets.size());
  for (const graph::Bucket& bucket : buckets) {
    insertions.push_back({communication(kind, bucket.gradients), bucket.ready});
  }
  insert(step, std::move(insertions));
}

double bytes_of_node(const graph::Bound& step, const graph::Node& node) {
  double bytes = 0;
  for (const graph::TensorId id : node.inputs) bytes += step.bytes(id);
  return bytes;
}

double bytes_of_kind(const graph::Bound& step, graph::Kind kind) {
  double bytes = 0;
  for (const graph::Node& node : step.graph->nodes) {
    if (node.kind == kind && exchanges_parameters(node)) bytes += bytes_of_node(step, node);
  }
  return bytes;
}

}  // namespace foretrain::parallel
