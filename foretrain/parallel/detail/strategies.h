// SPDX-License-Identifier: Apache-2.0
// The strategies, each in its own file: what it adds to a step, what that costs, and what it keeps.
#pragma once

#include <vector>

#include "foretrain/graph/bind.h"
#include "foretrain/parallel/plan.h"
#include "foretrain/request/resolve.h"

namespace foretrain::parallel {

void add_ddp(graph::Graph& step, const Resolved& resolved);
void add_all_reduce(graph::Graph& step, const Resolved& resolved);
void add_horovod(graph::Graph& step, const Resolved& resolved);
void add_data_parallel(graph::Graph& step, const Resolved& resolved);
void add_parameter_servers(graph::Graph& step, const Resolved& resolved);
void add_fsdp(graph::Graph& step, const Resolved& resolved);
void add_zero1(graph::Graph& step, const Resolved& resolved);
void add_zero2(graph::Graph& step, const Resolved& resolved);

ExchangePlan plan_ddp(const graph::Bound& step, const Resolved& resolved);
ExchangePlan plan_all_reduce(const graph::Bound& step, const Resolved& resolved);
ExchangePlan plan_horovod(const graph::Bound& step, const Resolved& resolved);
ExchangePlan plan_data_parallel(const graph::Bound& step, const Resolved& resolved);
ExchangePlan plan_parameter_servers(const graph::Bound& step, const Resolved& resolved);
ExchangePlan plan_fsdp(const graph::Bound& step, const Resolved& resolved);
ExchangePlan plan_zero1(const graph::Bound& step, const Resolved& resolved);
ExchangePlan plan_zero2(const graph::Bound& step, const Resolved& resolved);

std::vector<double> ddp_flat_buffers(const graph::Bound& step, const Resolved& resolved);
std::vector<double> zero1_flat_buffers(const graph::Bound& step, const Resolved& resolved);
std::vector<double> zero2_flat_buffers(const graph::Bound& step, const Resolved& resolved);

}  // namespace foretrain::parallel
