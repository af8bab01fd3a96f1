// SPDX-License-Identifier: Apache-2.0
#include "foretrain/memory/memory.h"

#include <algorithm>

#include "foretrain/memory/detail/blobs.h"
#include "foretrain/memory/detail/replay.h"
#include "foretrain/memory/lifetimes.h"

namespace foretrain::memory {
namespace {

// A pebibyte: no device has it, and addresses stay far from 64 bits.
constexpr double kAbsurdBytes = 1125899906842624.0;

double reserved_by_allocator(const graph::Bound& step, const Options& options,
                             const std::vector<Storage>& storages,
                             const std::vector<std::int32_t>& one_step) {
  if (!options.passes.empty()) {
    Options alone = options;
    alone.held_bytes = 0;
    const std::vector<Storage> own = lifetimes(step, alone);
    return reserved_bytes(own, events(own), options.passes);
  }
  if (options.batch_shares.empty()) return reserved_bytes(storages, one_step);
  return reserved_bytes(storages, one_step, options.batch_shares);
}

}  // namespace

Use step_memory(const graph::Bound& step, const Options& options) {
  std::vector<Storage> storages = lifetimes(step, options);
  if (options.keeps_blobs) storages = keep_blobs(storages, *step.graph);
  const std::vector<std::int32_t> one_step = events(storages);
  const PartBytes parts = peak(storages, one_step);
  const auto part = [&](Part p) { return parts[static_cast<std::size_t>(p)]; };
  Use use;
  use.parameters = part(Part::Parameters);
  use.gradients = part(Part::Gradients);
  use.optimizer = part(Part::Optimizer);
  use.activations = part(Part::Activations);
  use.workspace = part(Part::Workspace);
  use.allocated = use.parameters + use.gradients + use.optimizer + use.activations + use.workspace;
  use.needed = most_without_workspace(storages, one_step);
  if (options.caching_allocator && use.allocated < kAbsurdBytes) {
    const double reserved = reserved_by_allocator(step, options, storages, one_step);
    use.fragmentation = std::max(0.0, reserved - use.allocated);
  }
  return use;
}

bool squeeze(Use& use, double limit, double lost_share) {
  if (use.needed * (1 + lost_share) > limit) return false;
  const double over = use.allocated + use.fragmentation - limit;
  if (over <= 0) return true;
  const double given_back = std::min(use.fragmentation, over);
  use.fragmentation -= given_back;
  use.workspace -= over - given_back;
  use.allocated -= over - given_back;
  return true;
}

}  // namespace foretrain::memory
