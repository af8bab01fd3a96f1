// SPDX-License-Identifier: Apache-2.0
#include "foretrain/memory/memory.h"

#include <algorithm>

#include "foretrain/memory/allocator.h"
#include "foretrain/memory/lifetimes.h"

namespace foretrain::memory {
namespace {

// The first step has no optimizer states yet while forward and backward run, so later ones may
// need more; what they reserve settles soon.
constexpr int kMostSteps = 4;

// What the allocator holds after as many steps as it takes until one asks for nothing new.
double reserved_bytes(const std::vector<Storage>& storages, const std::vector<std::int32_t>& step) {
  CachingAllocator allocator;
  std::vector<CachingAllocator::BlockId> block(storages.size());
  for (int round = 0; round < kMostSteps; ++round) {
    const std::uint64_t before = allocator.reserved_bytes();
    for (const std::int32_t event : step) {
      if (event < 0) {
        allocator.free(block[static_cast<std::size_t>(~event)]);
        continue;
      }
      const auto i = static_cast<std::size_t>(event);
      if (round > 0 && storages[i].last == kForever) continue;
      block[i] = allocator.allocate(static_cast<std::uint64_t>(storages[i].bytes));
    }
    if (allocator.reserved_bytes() == before) break;
  }
  return static_cast<double>(allocator.reserved_bytes());
}

}  // namespace

Use step_memory(const graph::Bound& step, const Options& options) {
  const std::vector<Storage> storages = lifetimes(step, options);
  const std::vector<std::int32_t> one_step = events(storages);
  const PartBytes parts = peak(storages, one_step);
  const auto part = [&](Part p) { return parts[static_cast<std::size_t>(p)]; };
  Use use;
  use.parameters = part(Part::Parameters);
  use.gradients = part(Part::Gradients);
  use.optimizer = part(Part::Optimizer);
  use.activations = part(Part::Activations);
  use.workspace = part(Part::Workspace);
  use.allocated =
      use.parameters + use.gradients + use.optimizer + use.activations + use.workspace;
  if (options.caching_allocator) {
    use.fragmentation = std::max(0.0, reserved_bytes(storages, one_step) - use.allocated);
  }
  return use;
}

}  // namespace foretrain::memory
