// SPDX-License-Identifier: Apache-2.0
#include "foretrain/memory/detail/allocator.h"

#include <algorithm>

namespace foretrain::memory {
namespace {

using BlockId = CachingAllocator::BlockId;

constexpr BlockId kNone = -1;
constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kGranule = 512;
constexpr std::uint64_t kSmall = kSmallPoolBytes;
constexpr std::uint64_t kMediumSegment = 20 * kMiB;
constexpr std::uint64_t kLarge = 10 * kMiB;  // requests from here get a segment of their own
constexpr std::uint64_t kSegmentGranule = 2 * kMiB;

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t granule) {
  return (bytes + granule - 1) / granule * granule;
}

std::uint64_t segment_bytes(std::uint64_t bytes) {
  if (bytes <= kSmall) return kSmallSegmentBytes;
  return bytes < kLarge ? kMediumSegment : round_up(bytes, kSegmentGranule);
}

bool worth_splitting(std::uint64_t left, bool is_small) {
  return is_small ? left >= kGranule : left > kSmall;
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
  whole.is_small = bytes <= kSmall;
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
  const bool is_small = bytes <= kSmall;
  FreeList& list = free_[is_small ? 1 : 0];
  const std::size_t entry = list.best_fit(bytes);
  const bool found = entry < list.size();
  const BlockId id = found ? list.block_at(entry) : add_segment(bytes);
  if (worth_splitting(block(id).bytes - bytes, is_small)) {
    const FreeList::Free rest = as_free(cut(id, bytes));
    if (found) {
      list.change(entry, rest);
    } else {
      list.insert(rest);
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
      list.erase(list.position(as_free(after)));
      join(id, after);
    }
    const std::size_t entry = list.position(as_free(before));
    join(before, id);
    list.change(entry, as_free(before));
  } else if (joins_after) {
    const std::size_t entry = list.position(as_free(after));
    join(id, after);
    list.change(entry, as_free(id));
  } else {
    list.insert(as_free(id));
  }
}

}  // namespace foretrain::memory
