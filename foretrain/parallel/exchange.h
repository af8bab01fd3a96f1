// SPDX-License-Identifier: Apache-2.0
// What a strategy adds to a step: communication nodes of its graph, and what they take.
#pragma once

#include <string>
#include <vector>

#include "foretrain/graph/bind.h"
#include "foretrain/graph/graph.h"
#include "foretrain/parallel/plan.h"
#include "foretrain/request/resolve.h"

namespace foretrain::parallel {

// Tells steps apart to which different things are added: by the strategy and the sizes of its
// buckets; "" where the workers of this job exchange nothing.
std::string exchange_key(const Resolved& resolved);

// Whether workers update the parameters themselves; else servers do.
bool workers_update(const Resolved& resolved);

// Whether workers keep parameters in fp32 and compute with copies of all of them in half precision
// that the strategy makes, so that the step's parameters are these.
bool computes_with_half_copies(const Resolved& resolved);

// Whether a step waits for the slowest of all workers, the straggler.
bool waits_for_straggler(const Resolved& resolved);

// The step with the strategy's communication among its nodes, each where it can begin.
graph::Graph add_exchange(graph::Graph step, const Resolved& resolved);

// `step` is what add_exchange gave for this job. Throws Error: Unsupported for a strategy that the
// cluster cannot run, BadInput for servers that do not fit it.
ExchangePlan plan_exchange(const graph::Bound& step, const Resolved& resolved);

// Bytes of each flat buffer that a worker keeps for gradients on their way, besides the gradients
// themselves, in the order in which they are allocated. `step` as above.
std::vector<double> flat_buffers(const graph::Bound& step, const Resolved& resolved);

}  // namespace foretrain::parallel
