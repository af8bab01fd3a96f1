// SPDX-License-Identifier: Apache-2.0
#include "foretrain/operators/largest_batch.h"

#include <functional>

#include "foretrain/base/error.h"
#include "foretrain/base/humanise.h"
#include "foretrain/graph/bind.h"
#include "foretrain/operators/detail/memory.h"
#include "foretrain/operators/detail/step.h"

namespace foretrain::operators {
namespace {

constexpr std::int64_t kMostSamples = std::int64_t{1} << 30;

// The largest number that fits, of those from 1, where 1 does.
std::int64_t search(const std::function<bool(std::int64_t)>& fits) {
  std::int64_t good = 1;
  while (good < kMostSamples && fits(2 * good)) good *= 2;
  std::int64_t bad = 2 * good;
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

[[noreturn]] void refuse(const MemoryReport& memory, const Resolved& resolved) {
  throw Error(ErrorKind::BadInput, "batch max: not even one sample fits: it takes " +
                                       format_bytes(memory.peak) + " of the " +
                                       format_bytes(memory.capacity) + " of " +
                                       smallest_device(resolved).name +
                                       "; predict with batch 1 to see what would make it fit");
}

}  // namespace

Resolved with_largest_batch(Resolved resolved, const Library& library) {
  if (!resolved.largest_batch) return resolved;
  const auto step = find_step(resolved, library);
  const auto memory_of = [&](std::int64_t batch) {
    resolved.batch = batch;
    resolved.micro_batch = batch;
    if (step->pipeline) return most_memory(bind_stages(*step, resolved), resolved).report;
    return report_memory(graph::bind(step->graph, {{"batch", batch}}), resolved);
  };
  const MemoryReport least = memory_of(1);
  if (!least.fits) refuse(least, resolved);
  const std::int64_t most = search([&](std::int64_t batch) { return memory_of(batch).fits; });
  resolved.batch = most;
  resolved.micro_batch = most;
  resolved.assumptions.push_back("batch of " + std::to_string(most) +
                                 " samples per worker, the largest that fits: the peak of live "
                                 "tensors never falls when the batch grows");
  return resolved;
}

}  // namespace foretrain::operators
