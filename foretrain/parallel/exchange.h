// SPDX-License-Identifier: Apache-2.0
// What a strategy adds to a step: communication nodes of its graph, and what they take.
#pragma once

#include <string>
#include <vector>

#include "foretrain/base/seconds.h"
#include "foretrain/graph/bind.h"
#include "foretrain/graph/buckets.h"
#include "foretrain/graph/graph.h"
#include "foretrain/request/resolve.h"

namespace foretrain::parallel {

// PyTorch's DistributedDataParallel: a first bucket of 1 MiB so that communication starts early,
// then 25 MiB. Source: its documentation, bucket_cap_mb.
inline constexpr graph::BucketSizes kDdpBuckets{1024 * 1024, 25 * 1024 * 1024};

// Whether the workers of this job exchange anything. What is added depends on the strategy alone,
// so `exchange_name` tells steps apart that were prepared for different ones; "" for none.
std::string exchange_name(const Resolved& resolved);

// The step with the strategy's communication among its nodes, each where it can begin.
graph::Graph add_exchange(graph::Graph step, const Resolved& resolved);

// Bytes over the network, of the busiest node of each role.
struct Traffic {
  double worker_tx_bytes = 0;
  double worker_rx_bytes = 0;
  double server_tx_bytes = 0;
  double server_rx_bytes = 0;
};
Traffic scaled(const Traffic& traffic, double factor);

// One communication node: how long it takes and what it moves.
struct Exchange {
  Seconds time{0};
  Traffic traffic{};
};

// What the communication of one step costs.
struct ExchangePlan {
  std::vector<Exchange> exchanges;  // of each communication node of the step, in their order
  Seconds servers_busy{0};  // asynchronous: what all workers' exchanges take a step's servers
  Seconds per_gradient{0};  // time of a CPU itself, whose threads exchange: for each gradient,
  double per_gradient_byte_s = 0;  // and for each of its bytes
  double gradient_copies = 0;      // operators of a GPU that copy each gradient
  std::vector<std::string> assumptions;
};

// `step` is what add_exchange gave for this job. Throws Error: Unsupported for a strategy that the
// cluster cannot run, BadInput for servers that do not fit it.
ExchangePlan plan_exchange(const graph::Bound& step, const Resolved& resolved);

}  // namespace foretrain::parallel
