// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "foretrain/graph/bind.h"
#include "foretrain/parallel/plan.h"
#include "foretrain/request/resolve.h"

namespace foretrain::parallel {

// Every collective of a step with shards among the ranks that it names, and what it costs host and
// device beside the links. Bytes are those of whole tensors: what an all-gather gives to each rank
// and a reduce-scatter takes from it, shards rounded up.
ExchangePlan plan_collectives(const graph::Bound& step, const Resolved& resolved);

// The collectives of activations, which belong to the model's own passes.
std::vector<Exchange> exchange_activations(const graph::Bound& step, const Resolved& resolved);

}  // namespace foretrain::parallel
