// SPDX-License-Identifier: Apache-2.0
#include "foretrain/memory/detail/replay.h"

#include <algorithm>
#include <cmath>

#include "foretrain/memory/detail/allocator.h"

namespace foretrain::memory {
namespace {

// The first step runs without optimizer states, so later ones may need more. Of 2808 steps
// (all models of the zoo, three optimizers, two precisions, six batch sizes) 140 still grew
// in the third step and 2 in a later one.
constexpr int kMostSteps = 4;

// A pool that holds less than this share of the live memory is taken as packed without gaps.
constexpr double kNegligible = 1.0 / 32;

// The part of a step that one pool of the allocator sees; the pools never share memory.
struct PoolStep {
  std::vector<std::int32_t> events;
  double peak_bytes = 0;
};

PoolStep in_pool(const std::vector<Storage>& storages, const std::vector<std::int32_t>& step,
                 bool small) {
  PoolStep result;
  result.events.reserve(step.size());
  double live = 0;
  for (const std::int32_t event : step) {
    const Storage& storage = storages[static_cast<std::size_t>(event >= 0 ? event : ~event)];
    if ((storage.bytes <= kSmallPoolBytes) != small) continue;
    result.events.push_back(event);
    live += static_cast<double>(event >= 0 ? storage.bytes : -storage.bytes);
    result.peak_bytes = std::max(result.peak_bytes, live);
  }
  return result;
}

double replay(const std::vector<Storage>& storages, const std::vector<std::int32_t>& events) {
  CachingAllocator allocator;
  std::vector<CachingAllocator::BlockId> block(storages.size());
  for (int step = 0; step < kMostSteps; ++step) {
    const std::uint64_t before = allocator.reserved_bytes();
    for (const std::int32_t event : events) {
      if (event < 0) {
        allocator.free(block[static_cast<std::size_t>(~event)]);
        continue;
      }
      const auto i = static_cast<std::size_t>(event);
      if (step > 0 && storages[i].last == kForever) continue;
      block[i] = allocator.allocate(static_cast<std::uint64_t>(storages[i].bytes));
    }
    if (allocator.reserved_bytes() == before) break;
  }
  return static_cast<double>(allocator.reserved_bytes());
}

}  // namespace

double reserved_bytes(const std::vector<Storage>& storages, const std::vector<std::int32_t>& step) {
  const PoolStep small = in_pool(storages, step, true);
  const PoolStep large = in_pool(storages, step, false);
  const double large_bytes = replay(storages, large.events);
  if (small.peak_bytes < kNegligible * large.peak_bytes) {
    constexpr auto kSegment = static_cast<double>(kSmallSegmentBytes);
    return large_bytes + std::ceil(small.peak_bytes / kSegment) * kSegment;
  }
  return large_bytes + replay(storages, small.events);
}

}  // namespace foretrain::memory
