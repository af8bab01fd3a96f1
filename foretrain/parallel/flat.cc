// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/detail/flat.h"

#include <algorithm>
#include <utility>

#include "foretrain/graph/buckets.h"
#include "foretrain/parallel/detail/insert.h"
#include "foretrain/parallel/groups.h"

namespace foretrain::parallel {
namespace {

using graph::Attr;
using graph::Kind;
using graph::Node;
using graph::Role;
using graph::TensorId;

graph::Shape flat_shard(std::int64_t elements, int ranks) {
  return {graph::Dim((elements + ranks - 1) / ranks)};
}

class FlatSharding {
 public:
  FlatSharding(graph::Graph& step, const Resolved& resolved, FlatGradients kept)
      : step_(step),
        resolved_(resolved),
        ranks_(shard_ranks(resolved)),
        every_pass_(kept == FlatGradients::Shards &&
                    resolved.strategy.reduce_every_pass.value_or(true)) {}

  void run() {
    const double bytes = resolved_.exchange->sharded.bucket_bytes;
    const auto buckets = graph::make_buckets(step_, {bytes, bytes});
    for (const auto& [parameter, gradient] : step_.gradients) {
      step_.tensor(parameter).trainable = false;
      gathered_.push_back(parameter);
    }
    for (graph::Tensor& tensor : step_.tensors) {
      if (tensor.role != Role::OptimizerState) continue;
      tensor.shape = flat_shard(graph::elements(tensor.shape).factor, ranks_);
    }
    for (const graph::Bucket& bucket : buckets) scatter(bucket);
    step_.gradients = pairs_;
    update();
    insert(step_, std::move(insertions_));
  }

 private:
  TensorId add(graph::Tensor tensor) {
    step_.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(step_.tensors.size()) - 1;
  }

  Node collective(Kind kind, std::vector<TensorId> tensors, graph::Among among) const {
    Node node = communication(kind, std::move(tensors));
    node.attributes.set(Attr::Among, {graph::Dim(static_cast<std::int64_t>(among))});
    if (every_pass_) node.attributes.set(Attr::EveryPass, {graph::Dim(1)});
    return node;
  }

  void scatter(const graph::Bucket& bucket) {
    std::int64_t elements = 0;
    for (const TensorId id : bucket.gradients) {
      elements += graph::elements(step_.tensor(id).shape).factor;
    }
    const graph::Shape shape = flat_shard(elements, ranks_);
    const DType type = step_.tensor(bucket.gradients.front()).type;
    graph::Tensor master{"", shape, DType::F32, Role::Parameter, true};
    graph::Tensor summed{"", shape, type, Role::Gradient, false};
    pairs_.emplace_back(add(std::move(master)), add(std::move(summed)));
    Node node = collective(Kind::ReduceScatter, bucket.gradients, graph::Among::ShardGroup);
    node.outputs = {pairs_.back().second};
    insertions_.push_back({std::move(node), bucket.ready});
    if (copies(resolved_) == 1) return;
    insertions_.push_back(
        {collective(Kind::AllReduce, {pairs_.back().second}, graph::Among::Replicas),
         bucket.ready});
  }

  // Each rank updates its shards; then all get all parameters.
  void update() {
    for (std::size_t n = 0; n < step_.nodes.size(); ++n) {
      Node& node = step_.nodes[n];
      if (node.kind != Kind::Update) continue;
      node.inputs.clear();
      for (const auto& [shard, gradient] : pairs_) node.inputs.push_back(shard);
      for (const auto& [shard, gradient] : pairs_) node.inputs.push_back(gradient);
      Node gather = collective(Kind::AllGather, gathered_, graph::Among::ShardGroup);
      gather.attributes.set(Attr::EveryPass, {graph::Dim(0)});
      insertions_.push_back({std::move(gather), static_cast<graph::NodeId>(n)});
    }
  }

  graph::Graph& step_;
  const Resolved& resolved_;
  int ranks_;
  bool every_pass_;
  std::vector<TensorId> gathered_;
  std::vector<std::pair<TensorId, TensorId>> pairs_;  // shards of parameters and gradients
  std::vector<Insertion> insertions_;
};

}  // namespace

void shard_flat(graph::Graph& step, const Resolved& resolved, FlatGradients kept) {
  FlatSharding(step, resolved, kept).run();
}

std::vector<double> flat_shard_buffers(const graph::Bound& step, const Resolved& resolved) {
  double all = 0;
  double largest = 0;
  for (const Node& node : step.graph->nodes) {
    if (node.kind != Kind::ReduceScatter || !exchanges_parameters(node)) continue;
    const double bytes = bytes_of_node(step, node);
    all += bytes;
    largest = std::max(largest, bytes);
  }
  if (!resolved.framework->main_gradients) return {largest, largest};
  if (resolved.precision == Precision::Fp16) return {};
  if (resolved.framework->keeps_half_gradients) return {2 * all};  // in fp32
  return {all};  // with the 16-bit gradients themselves as much as they take in fp32
}

}  // namespace foretrain::parallel
