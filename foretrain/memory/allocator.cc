// SPDX-License-Identifier: Apache-2.0
#include "foretrain/memory/allocator.h"

#include <algorithm>

namespace foretrain::memory {
namespace {

using BlockId = CachingAllocator::BlockId;

constexpr BlockId kNone = -1;
constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kGranule = 512;
constexpr std::uint64_t kSmallest = kMiB;         // requests up to here share small segments
constexpr std::uint64_t kSmallSegment = 2 * kMiB;
constexpr std::uint64_t kMediumSegment = 20 * kMiB;
constexpr std::uint64_t kLarge = 10 * kMiB;       // requests from here get their own segment
constexpr std::uint64_t kSegmentGranule = 2 * kMiB;

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t granule) {
  return (bytes + granule - 1) / granule * granule;
}

std::uint64_t segment_bytes(std::uint64_t bytes) {
  if (bytes <= kSmallest) return kSmallSegment;
  return bytes < kLarge ? kMediumSegment : round_up(bytes, kSegmentGranule);
}

bool worth_splitting(std::uint64_t left, bool is_small) {
  return is_small ? left >= kGranule : left > kSmallest;
}

// Changes the entry at `from` of a sorted list to `changed` and moves it to its new place.
template <typename List>
void change(List& list, typename List::iterator from, const typename List::value_type& changed) {
  if (changed < *from) {
    const auto to = std::lower_bound(list.begin(), from, changed);
    std::move_backward(to, from, from + 1);
    *to = changed;
  } else {
    const auto to = std::lower_bound(from + 1, list.end(), changed);
    std::move(from + 1, to, from);
    *(to - 1) = changed;
  }
}

template <typename List>
typename List::iterator place_of(List& list, const typename List::value_type& entry) {
  return std::lower_bound(list.begin(), list.end(), entry);
}

}  // namespace

BlockId CachingAllocator::add(const Block& added) {
  if (unused_.empty()) {
    blocks_.push_back(added);
    return static_cast<BlockId>(blocks_.size()) - 1;
  }
  const BlockId id = unused_.back();
  unused_.pop_back();
  block(id) = added;
  return id;
}

BlockId CachingAllocator::add_segment(std::uint64_t bytes) {
  Block whole;
  whole.address = reserved_;
  whole.bytes = segment_bytes(bytes);
  whole.before = whole.after = kNone;
  whole.is_small = bytes <= kSmallest;
  reserved_ += whole.bytes;
  return add(whole);
}

// Shortens a block to `bytes`; the rest becomes a free block, not yet listed.
BlockId CachingAllocator::cut(BlockId id, std::uint64_t bytes) {
  Block rest = block(id);
  rest.address += bytes;
  rest.bytes -= bytes;
  rest.before = id;
  rest.is_free = true;
  const BlockId cut_off = add(rest);
  if (rest.after != kNone) block(rest.after).before = cut_off;
  block(id).bytes = bytes;
  block(id).after = cut_off;
  return cut_off;
}

// Lets a block take over its right neighbour.
void CachingAllocator::join(BlockId id, BlockId after) {
  block(id).bytes += block(after).bytes;
  block(id).after = block(after).after;
  if (block(id).after != kNone) block(block(id).after).before = id;
  unused_.push_back(after);
}

BlockId CachingAllocator::allocate(std::uint64_t bytes) {
  bytes = std::max(round_up(bytes, kGranule), kGranule);
  const bool is_small = bytes <= kSmallest;
  FreeList& list = free_[is_small ? 1 : 0];
  const auto entry = place_of(list, Free{bytes, 0, kNone});
  const bool found = entry != list.end();
  const BlockId id = found ? entry->block : add_segment(bytes);
  if (worth_splitting(block(id).bytes - bytes, is_small)) {
    const Free rest = as_free(cut(id, bytes));
    if (found) {
      change(list, entry, rest);
    } else {
      list.insert(place_of(list, rest), rest);
    }
  } else if (found) {
    list.erase(entry);
  }
  block(id).is_free = false;
  return id;
}

void CachingAllocator::free(BlockId id) {
  FreeList& list = list_of(block(id));
  const BlockId before = block(id).before;
  const BlockId after = block(id).after;
  const bool joins_before = before != kNone && block(before).is_free;
  const bool joins_after = after != kNone && block(after).is_free;
  block(id).is_free = true;
  if (joins_before) {
    if (joins_after) {
      list.erase(place_of(list, as_free(after)));
      join(id, after);
    }
    const auto entry = place_of(list, as_free(before));
    join(before, id);
    change(list, entry, as_free(before));
  } else if (joins_after) {
    const auto entry = place_of(list, as_free(after));
    join(id, after);
    change(list, entry, as_free(id));
  } else {
    const Free entry = as_free(id);
    list.insert(place_of(list, entry), entry);
  }
}

}  // namespace foretrain::memory
