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
  double live_bytes = 0;
  double peak_bytes = 0;
};

struct Pools {
  PoolStep small;
  PoolStep large;
};

Pools by_pool(const std::vector<Storage>& storages, const std::vector<std::int32_t>& step) {
  Pools pools;
  pools.small.events.reserve(step.size());
  pools.large.events.reserve(step.size());
  for (const std::int32_t event : step) {
    const Storage& storage = storages[static_cast<std::size_t>(event >= 0 ? event : ~event)];
    PoolStep& pool = storage.bytes <= kSmallPoolBytes ? pools.small : pools.large;
    pool.events.push_back(event);
    pool.live_bytes += static_cast<double>(event >= 0 ? storage.bytes : -storage.bytes);
    pool.peak_bytes = std::max(pool.peak_bytes, pool.live_bytes);
  }
  return pools;
}

bool is_negligible(const PoolStep& small, const PoolStep& large) {
  return small.peak_bytes < kNegligible * large.peak_bytes;
}

// In whole segments.
double packed_bytes(const PoolStep& small) {
  constexpr auto kSegment = static_cast<double>(kSmallSegmentBytes);
  return std::ceil(small.peak_bytes / kSegment) * kSegment;
}

// Of a step in which what varies has `share` of its size.
std::uint64_t bytes_of(const Storage& storage, double share) {
  if (!storage.varies) return static_cast<std::uint64_t>(storage.bytes);
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(storage.bytes) * share));
}

// What is given back at once leaves no trace where there is room for it.
void run_step(const std::vector<Storage>& storages, const std::vector<std::int32_t>& events,
              bool is_first, double share, CachingAllocator& allocator,
              std::vector<BlockId>& block) {
  for (std::size_t k = 0; k < events.size(); ++k) {
    if (events[k] < 0) {
      allocator.free(block[static_cast<std::size_t>(~events[k])]);
      continue;
    }
    const auto i = static_cast<std::size_t>(events[k]);
    if (!is_first && storages[i].last == kForever) continue;
    const std::uint64_t bytes = bytes_of(storages[i], share);
    if (k + 1 < events.size() && events[k + 1] == ~events[k] && allocator.has_room(bytes)) {
      ++k;
      continue;
    }
    block[i] = allocator.allocate(bytes);
  }
}

double replay(const std::vector<Storage>& storages, const std::vector<std::int32_t>& events) {
  CachingAllocator allocator;
  std::vector<BlockId> block(storages.size());
  for (int step = 0; step < kMostSteps; ++step) {
    const std::uint64_t before = allocator.reserved_bytes();
    run_step(storages, events, step == 0, 1, allocator, block);
    if (allocator.reserved_bytes() == before) break;
  }
  return static_cast<double>(allocator.reserved_bytes());
}

double replay(const std::vector<Storage>& storages, const std::vector<std::int32_t>& events,
              const std::vector<double>& shares) {
  CachingAllocator allocator;
  std::vector<BlockId> block(storages.size());
  bool is_first = true;
  for (const double share : shares) {
    run_step(storages, events, is_first, share, allocator, block);
    is_first = false;
  }
  return static_cast<double>(allocator.reserved_bytes());
}

// A step of several micro-batches before one pool of the allocator.
class PassReplay {
 public:
  PassReplay(const std::vector<Storage>& storages, const std::vector<std::int32_t>& events,
             const std::vector<MicroBatchPass>& passes)
      : storages_(storages), events_(events), passes_(passes), shared_(storages.size(), kNoBlock) {
    begin_ = passes.front().first;
    std::int64_t micro_batches = 1;
    for (const MicroBatchPass& pass : passes) {
      begin_ = std::min(begin_, pass.first);
      end_ = std::max(end_, pass.end);
      micro_batches = std::max(micro_batches, pass.micro_batch + 1);
    }
    own_.assign(static_cast<std::size_t>(micro_batches), shared_);
  }

  double run() {
    for (int step = 0; step < kMostSteps; ++step) {
      const std::uint64_t before = allocator_.reserved_bytes();
      run_nodes(kBeforeStep, begin_, shared_, step == 0);
      for (const MicroBatchPass& pass : passes_) {
        run_nodes(pass.first, pass.end, own_[static_cast<std::size_t>(pass.micro_batch)], false);
      }
      run_nodes(end_, kForever, shared_, step == 0);
      if (allocator_.reserved_bytes() == before) break;
    }
    return static_cast<double>(allocator_.reserved_bytes());
  }

 private:
  static std::size_t index(std::int32_t event) {
    return static_cast<std::size_t>(event >= 0 ? event : ~event);
  }

  graph::NodeId node_of(std::int32_t event) const {
    return event >= 0 ? storages_[index(event)].born : storages_[index(event)].last;
  }

  bool belongs_to_micro_batch(const Storage& storage) const {
    return storage.born >= begin_ && storage.last < end_;
  }

  // The events are in the order of their nodes.
  void run_nodes(graph::NodeId first, graph::NodeId end, std::vector<BlockId>& own, bool is_first) {
    const auto before = [&](std::int32_t event, graph::NodeId node) {
      return node_of(event) < node;
    };
    const auto from = std::lower_bound(events_.begin(), events_.end(), first, before);
    const auto to = std::lower_bound(from, events_.end(), end, before);
    for (auto event = from; event != to; ++event) {
      const std::size_t i = index(*event);
      const Storage& storage = storages_[i];
      BlockId& block = belongs_to_micro_batch(storage) ? own[i] : shared_[i];
      if (*event < 0) {
        allocator_.free(block);
        block = kNoBlock;
        continue;
      }
      if (block != kNoBlock || (storage.last == kForever && !is_first)) continue;
      const auto bytes = static_cast<std::uint64_t>(storage.bytes);
      if (event + 1 != to && event[1] == ~*event && allocator_.has_room(bytes)) {
        ++event;
        continue;
      }
      block = allocator_.allocate(bytes);
    }
  }

  const std::vector<Storage>& storages_;
  const std::vector<std::int32_t>& events_;
  const std::vector<MicroBatchPass>& passes_;
  graph::NodeId begin_ = 0;
  graph::NodeId end_ = 0;
  CachingAllocator allocator_;
  std::vector<BlockId> shared_;
  std::vector<std::vector<BlockId>> own_;  // of each micro-batch
};

}  // namespace

double reserved_bytes(const std::vector<Storage>& storages, const std::vector<std::int32_t>& step,
                      const std::vector<MicroBatchPass>& passes) {
  const auto [small, large] = by_pool(storages, step);
  return PassReplay(storages, large.events, passes).run() +
         PassReplay(storages, small.events, passes).run();
}

double reserved_bytes(const std::vector<Storage>& storages, const std::vector<std::int32_t>& step) {
  const auto [small, large] = by_pool(storages, step);
  const double large_bytes = replay(storages, large.events);
  if (is_negligible(small, large)) return large_bytes + packed_bytes(small);
  return large_bytes + replay(storages, small.events);
}

double reserved_bytes(const std::vector<Storage>& storages, const std::vector<std::int32_t>& step,
                      const std::vector<double>& shares) {
  const auto [small, large] = by_pool(storages, step);
  const double large_bytes = replay(storages, large.events, shares);
  if (is_negligible(small, large)) return large_bytes + packed_bytes(small);
  return large_bytes + replay(storages, small.events, shares);
}

}  // namespace foretrain::memory
