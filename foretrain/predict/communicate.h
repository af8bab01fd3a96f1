// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "foretrain/predict/job.h"

namespace foretrain {

// What a step's communication looks like under the request's strategy, as durations and bytes.
struct Communication {
  std::vector<Bucket> buckets;        // gradients, exchanged as they become ready
  std::vector<Seconds> bucket_times;  // of each
  std::vector<Seconds> server_times;  // work of the busiest server for each; empty: no servers
  std::optional<Seconds> entry;       // exchange before the forward pass: pull or replicate
  bool host_enters = false;           // the host itself is busy with it and launches afterwards
  Seconds floor{0};                   // no step takes less: a saturated server
  Seconds per_gradient{0};            // time of the device itself: threads of a CPU that exchange
  double per_gradient_byte_s = 0;     // likewise
  double gradient_copies = 0;         // operators of a GPU that copy each gradient
  Transfer per_entry;                 // network bytes of the entry
  Transfer per_byte;                  // network bytes for each byte of a bucket
  std::vector<std::string> assumptions;
};

// Throws Error(Unsupported) for a strategy that the cluster cannot run.
Communication plan_communication(const Step& step, const graph::Bound& bound,
                                 const Setting& setting, const Request& request);

// The resources of the communication and the task that the forward pass waits for, if any.
struct Entry {
  sim::ResourceId network = 0;
  sim::ResourceId server = 0;
  std::vector<sim::TaskId> after;
};
Entry before_step(const Communication& communication, Job& job);

// Adds the exchange of every bucket after the kernels `ready[bucket]`; returns the tasks that the
// update waits for.
std::vector<sim::TaskId> exchange_gradients(const Communication& communication, const Entry& entry,
                                            const std::vector<std::vector<sim::TaskId>>& ready,
                                            Job& job);

}  // namespace foretrain
