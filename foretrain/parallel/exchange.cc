// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/exchange.h"

#include <algorithm>
#include <array>
#include <utility>

#include "foretrain/graph/offload.h"
#include "foretrain/graph/op.h"
#include "foretrain/parallel/detail/collectives.h"
#include "foretrain/parallel/detail/offload.h"
#include "foretrain/parallel/detail/shards.h"
#include "foretrain/parallel/detail/strategies.h"
#include "foretrain/parallel/groups.h"

namespace foretrain::parallel {
namespace {

struct Row {
  Parallel kind;
  const char* name;
  void (*add)(graph::Graph& step, const Resolved& resolved);
  ExchangePlan (*plan)(const graph::Bound& step, const Resolved& resolved);
  std::vector<double> (*flat_buffers)(const graph::Bound& step, const Resolved& resolved);
  bool workers_update = true;
  bool waits_for_straggler = true;
  bool shards = false;   // what a rank has depends on how many there are
  bool gathers = false;  // parameters come whole, in the type that is computed in
};

// Gradients are sent from where they lie.
std::vector<double> no_flat_buffers(const graph::Bound&, const Resolved&) { return {}; }

// The buffers of a plain all-reduce and of Horovod's fusion are taken to be as large as DDP's.
constexpr std::array kRows{
    Row{Parallel::Ddp, "ddp", add_ddp, plan_ddp, ddp_flat_buffers},
    Row{Parallel::AllReduce, "allreduce", add_all_reduce, plan_all_reduce, ddp_flat_buffers},
    Row{Parallel::Horovod, "horovod", add_horovod, plan_horovod, ddp_flat_buffers},
    Row{Parallel::DataParallel, "dataparallel", add_data_parallel, plan_data_parallel,
        no_flat_buffers, true, false},  // its own constants hold the straggler
    Row{Parallel::ParameterServer, "ps", add_parameter_servers, plan_parameter_servers,
        no_flat_buffers, false, true},
    Row{Parallel::Fsdp, "fsdp", add_fsdp, plan_fsdp, no_flat_buffers, true, true, true, true},
    Row{Parallel::Zero1, "zero1", add_zero1, plan_zero1, zero1_flat_buffers, true, true, true,
        false},
    Row{Parallel::Zero2, "zero2", add_zero2, plan_zero2, zero2_flat_buffers, true, true, true,
        true},
    Row{Parallel::Zero3, "zero3", add_fsdp, plan_fsdp, no_flat_buffers, true, true, true, true},
};

const Row& row_of(Parallel kind) {
  return *std::find_if(kRows.begin(), kRows.end(),
                       [&](const Row& row) { return row.kind == kind; });
}

// The strategy of a job that exchanges anything; null where it does not.
const Row* exchanging_row(const Resolved& resolved) {
  const Parallel kind = resolved.strategy.kind;
  if (resolved.mode == Mode::Inference) return nullptr;
  if (gradient_ranks(resolved) == 1 && kind != Parallel::ParameterServer) return nullptr;
  return &row_of(kind);
}

std::string shards_key(const Resolved& resolved) {
  const Strategy& strategy = resolved.strategy;
  std::string key = ' ' + std::to_string(shard_ranks(resolved)) + ' ' +
                    std::to_string(copies(resolved)) + ' ' +
                    strategy.gradient_precision.value_or("") + ' ' +
                    std::to_string(resolved.exchange->sharded.bucket_bytes);
  if (!strategy.reduce_every_pass.value_or(true)) key += " last pass";
  return key + (resolved.framework->flat_shards ? " flat" : "");
}

// Puts what the model's own passes exchange among what the strategy does, in the nodes' order.
void add_activations(const graph::Bound& step, const Resolved& resolved, ExchangePlan& plan) {
  const std::vector<Exchange> activations = exchange_activations(step, resolved);
  if (activations.empty()) return;
  std::vector<Exchange> all;
  auto own = activations.begin();
  auto strategy = plan.exchanges.begin();
  for (const graph::Node& node : step.graph->nodes) {
    if (!graph::is_communication(node) || graph::is_offload(node) || graph::is_transfer(node))
      continue;
    all.push_back(graph::is_activation_exchange(node) ? *own++ : *strategy++);
  }
  plan.exchanges = std::move(all);
}

// Of what the workers exchange with each other.
std::string workers_key(const Resolved& resolved) {
  const Row* row = exchanging_row(resolved);
  if (row == nullptr) return "";
  const comm::ExchangeCosts& costs = *resolved.exchange;
  std::string key = row->name;
  for (const double bytes :
       {costs.ddp.first_bucket_bytes, costs.ddp.bucket_bytes, costs.horovod.fusion_bytes}) {
    key += ' ' + std::to_string(bytes);
  }
  if (resolved.strategy.expert > 1) {
    key += " experts " + std::to_string(resolved.strategy.expert) + " of " +
           std::to_string(gradient_ranks(resolved));
  }
  return row->shards ? key + shards_key(resolved) : key;
}

}  // namespace

std::string exchange_key(const Resolved& resolved) {
  return workers_key(resolved) + offload_key(resolved);
}

bool workers_update(const Resolved& resolved) {
  return row_of(resolved.strategy.kind).workers_update;
}

bool computes_with_half_copies(const Resolved& resolved) {
  const Row* row = exchanging_row(resolved);
  return row != nullptr && row->gathers && gathers_half(resolved);
}

bool waits_for_straggler(const Resolved& resolved) {
  const bool asynchronous =
      resolved.strategy.kind == Parallel::ParameterServer && resolved.strategy.asynchronous;
  return resolved.mode == Mode::Train && !asynchronous &&
         row_of(resolved.strategy.kind).waits_for_straggler;
}

graph::Graph add_exchange(graph::Graph step, const Resolved& resolved) {
  if (const Row* row = exchanging_row(resolved)) row->add(step, resolved);
  add_offload(step, resolved);
  return step;
}

ExchangePlan plan_exchange(const graph::Bound& step, const Resolved& resolved) {
  const Row* row = exchanging_row(resolved);
  ExchangePlan plan = row == nullptr ? ExchangePlan{} : row->plan(step, resolved);
  add_activations(step, resolved, plan);
  return with_offload(std::move(plan), step, resolved);
}

std::vector<double> flat_buffers(const graph::Bound& step, const Resolved& resolved) {
  const Row* row = exchanging_row(resolved);
  return row == nullptr ? std::vector<double>{} : row->flat_buffers(step, resolved);
}

}  // namespace foretrain::parallel
