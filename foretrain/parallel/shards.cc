// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/detail/shards.h"

#include <utility>

namespace foretrain::parallel {

bool gathers_half(const Resolved& resolved) {
  return is_half(resolved.precision) && resolved.weights == Weights::Fp32 &&
         resolved.framework->casting != graph::Casting::WholeModel;
}

DType reduced_type(DType own, const Resolved& resolved) {
  if (!is_floating(own) || bytes_of(own) > 4) return own;
  if (!resolved.strategy.gradient_precision && resolved.weights != Weights::Fp32) return own;
  const std::string asked = resolved.strategy.gradient_precision.value_or("fp32");
  if (asked == "fp16") return DType::F16;
  return asked == "bf16" ? DType::BF16 : DType::F32;
}

graph::Shape shard_of(const graph::Shape& whole, int ranks, int axis) {
  graph::Shape shard = whole;
  if (shard.rank() > 0) shard[axis].factor = (shard[axis].factor + ranks - 1) / ranks;
  return shard;
}

graph::TensorId add_shard(graph::Graph& step, graph::TensorId parameter, graph::Shape shape,
                          DType kept) {
  graph::Tensor& whole = step.tensor(parameter);
  graph::Tensor shard = whole;
  whole.trainable = false;
  shard.shape = std::move(shape);
  shard.type = kept;
  step.tensors.push_back(std::move(shard));
  return static_cast<graph::TensorId>(step.tensors.size()) - 1;
}

}  // namespace foretrain::parallel
