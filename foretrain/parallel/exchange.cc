// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/exchange.h"

#include <algorithm>
#include <array>
#include <utility>

#include "foretrain/parallel/detail/strategies.h"

namespace foretrain::parallel {
namespace {

struct Row {
  Parallel kind;
  const char* name;
  void (*add)(graph::Graph& step, const Resolved& resolved);
  ExchangePlan (*plan)(const graph::Bound& step, const Resolved& resolved);
};

constexpr std::array kRows{
    Row{Parallel::Ddp, "ddp", add_ddp, plan_ddp},
    Row{Parallel::AllReduce, "allreduce", add_all_reduce, plan_all_reduce},
    Row{Parallel::Horovod, "horovod", add_horovod, plan_horovod},
    Row{Parallel::DataParallel, "dataparallel", add_data_parallel, plan_data_parallel},
    Row{Parallel::ParameterServer, "ps", add_parameter_servers, plan_parameter_servers},
};

// The strategy of a job that exchanges anything; null where it does not.
const Row* row_of(const Resolved& resolved) {
  const Parallel kind = resolved.strategy.kind;
  if (resolved.mode == Mode::Inference) return nullptr;
  if (resolved.workers == 1 && kind != Parallel::ParameterServer) return nullptr;
  return std::find_if(kRows.begin(), kRows.end(), [&](const Row& row) { return row.kind == kind; });
}

}  // namespace

std::string exchange_name(const Resolved& resolved) {
  const Row* row = row_of(resolved);
  return row == nullptr ? "" : row->name;
}

graph::Graph add_exchange(graph::Graph step, const Resolved& resolved) {
  if (const Row* row = row_of(resolved)) row->add(step, resolved);
  return step;
}

ExchangePlan plan_exchange(const graph::Bound& step, const Resolved& resolved) {
  const Row* row = row_of(resolved);
  return row == nullptr ? ExchangePlan{} : row->plan(step, resolved);
}

}  // namespace foretrain::parallel
