// SPDX-License-Identifier: Apache-2.0
#include "foretrain/request/detail/find_strategy.h"

#include "foretrain/base/error.h"
#include "foretrain/base/product.h"

namespace foretrain {
namespace {

bool is_sharded(const Strategy& strategy) {
  return strategy.kind == Parallel::Fsdp || strategy.kind == Parallel::Zero1 ||
         strategy.kind == Parallel::Zero2 || strategy.kind == Parallel::Zero3;
}

}  // namespace

int find_data_parallel(const Strategy& strategy, int workers) {
  const std::int64_t model = checked_product({strategy.tensor, strategy.pipeline, strategy.context},
                                             "strategy: tensor, pipeline and context");
  if (workers % model != 0) {
    throw Error(ErrorKind::BadInput,
                std::to_string(workers) + " workers are not a multiple of the " +
                    std::to_string(model) + " that tensor, pipeline and context parallelism take");
  }
  if (model > 1 &&
      (strategy.kind == Parallel::ParameterServer || strategy.kind == Parallel::DataParallel)) {
    throw Error(ErrorKind::Unsupported,
                "strategy ps and dataparallel have no tensor, pipeline or context parallelism; use "
                "ddp or zero1");
  }
  const auto data = static_cast<int>(workers / model);
  if (data * strategy.context % strategy.expert != 0) {
    throw Error(ErrorKind::BadInput, "expert " + std::to_string(strategy.expert) +
                                         " does not divide the " +
                                         std::to_string(data * strategy.context) +
                                         " ranks of data and context parallelism");
  }
  return data;
}

void check_shard_group(const Strategy& strategy, int ranks) {
  if (!strategy.shard_group) return;
  if (!is_sharded(strategy)) {
    throw Error(ErrorKind::BadInput,
                "'shard_group' is for strategies fsdp, zero1, zero2 and zero3");
  }
  if (ranks % *strategy.shard_group != 0) {
    throw Error(ErrorKind::BadInput, "shard_group " + std::to_string(*strategy.shard_group) +
                                         " does not divide the " + std::to_string(ranks) +
                                         " ranks with the same parameters");
  }
}

void check_pipeline(const Strategy& strategy, std::int64_t passes,
                    std::vector<std::string>& assumptions) {
  if (strategy.pipeline == 1) {
    if (strategy.interleave == 1) return;
    throw Error(ErrorKind::BadInput, "'interleave' is for a pipeline of several stages");
  }
  if (is_sharded(strategy) && strategy.kind != Parallel::Zero1) {
    throw Error(ErrorKind::Unsupported,
                "strategy: this version knows a pipeline with ddp or zero1; use one of them");
  }
  if (strategy.interleave > 1 && strategy.schedule != "1f1b") {
    throw Error(ErrorKind::BadInput, "'interleave' needs the schedule 1f1b");
  }
  if (strategy.interleave > 1 && passes % strategy.pipeline != 0) {
    throw Error(ErrorKind::BadInput, "interleave: " + std::to_string(passes) +
                                         " micro-batches are not a multiple of the " +
                                         std::to_string(strategy.pipeline) +
                                         " stages of the pipeline");
  }
  if (passes == 1) {
    assumptions.push_back(
        "one micro-batch: the stages of the pipeline work one after the other (micro_batch "
        "divides the batch)");
  }
}

void note_without_effect(const Request& request, std::vector<std::string>& assumptions) {
  const Strategy& strategy = request.strategy;
  const Strategy usual;
  std::vector<std::string> names;
  const auto note = [&](bool given, const char* name) {
    if (given) names.emplace_back(name);
  };
  if (strategy.kind != Parallel::ParameterServer) {
    note(strategy.servers != usual.servers, "servers");
    note(strategy.asynchronous, "asynchronous");
    note(!(strategy.server_device == usual.server_device), "server_device");
    note(!strategy.server_placement.empty(), "server_placement");
  }
  if (strategy.kind != Parallel::Horovod) note(strategy.cycle_s.has_value(), "cycle_s");
  if (strategy.pipeline == 1) note(strategy.schedule != usual.schedule, "schedule");
  if (strategy.expert == 1) note(strategy.expert_imbalance != 1, "expert_imbalance");
  if (strategy.tensor == 1) note(strategy.sequence_parallel, "sequence_parallel");
  const bool scatters = is_sharded(strategy) && strategy.kind != Parallel::Zero1;
  if (!scatters) note(strategy.reduce_every_pass.value_or(false), "reduce_every_pass");
  for (const std::string& name : names) {
    assumptions.push_back(name + " has no effect with this strategy");
  }
  if (request.mode == Mode::Train) return;
  if (is_sharded(strategy)) {
    assumptions.emplace_back("inference: each rank keeps its parameters, nothing is sharded");
  }
  if (strategy.recompute != usual.recompute) {
    assumptions.emplace_back("inference: recompute has no effect, there is no backward pass");
  }
}

void note_gradient_precision(const Request& request, bool flat_shards, bool half_gradients,
                             std::vector<std::string>& assumptions) {
  const Strategy& strategy = request.strategy;
  if (!strategy.gradient_precision || request.mode != Mode::Train) return;
  const bool flat = strategy.kind == Parallel::Zero2 && flat_shards;
  if (flat || strategy.kind == Parallel::Zero1 || strategy.kind == Parallel::ParameterServer ||
      strategy.kind == Parallel::DataParallel) {
    assumptions.emplace_back("gradient_precision has no effect with this strategy");
    return;
  }
  if (!is_sharded(strategy) && *strategy.gradient_precision == "fp32" && half_gradients) {
    assumptions.emplace_back(
        "gradient_precision fp32 has no effect: gradients are kept, and sent, in 16 bits");
  }
}

}  // namespace foretrain
