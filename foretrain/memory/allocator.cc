// SPDX-License-Identifier: Apache-2.0
#include "foretrain/memory/detail/allocator.h"

#include <algorithm>

namespace foretrain::memory {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kGranule = 512;
constexpr std::uint64_t kSmall = kSmallPoolBytes;
constexpr std::uint64_t kMediumSegment = 20 * kMiB;
constexpr std::uint64_t kLarge = 10 * kMiB;  // requests from here get a segment of their own
constexpr std::uint64_t kSegmentGranule = 2 * kMiB;

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t granule) {
  return (bytes + granule - 1) / granule * granule;
}

std::uint64_t block_bytes(std::uint64_t bytes) {
  return std::max(round_up(bytes, kGranule), kGranule);
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
  if (rest.after != kNoBlock) block(rest.after).before = cut_off;
  block(id).bytes = bytes;
  block(id).after = cut_off;
  return cut_off;
}

// Lets a block take over its right neighbour.
void CachingAllocator::join(BlockId id, BlockId after) {
  block(id).bytes += block(after).bytes;
  block(id).after = block(after).after;
  if (block(id).after != kNoBlock) block(block(id).after).before = id;
  unused_.push_back(after);
}

bool CachingAllocator::has_room(std::uint64_t bytes) const {
  bytes = block_bytes(bytes);
  return list(bytes <= kSmall).best_fit(bytes) != kNoBlock;
}

BlockId CachingAllocator::allocate(std::uint64_t bytes) {
  bytes = block_bytes(bytes);
  const bool is_small = bytes <= kSmall;
  BlockId id = list(is_small).best_fit(bytes);
  if (id != kNoBlock) {
    list(is_small).erase(id);
  } else {
    id = add_segment(bytes);
  }
  if (worth_splitting(block(id).bytes - bytes, is_small)) list(is_small).insert(cut(id, bytes));
  block(id).is_free = false;
  return id;
}

void CachingAllocator::free(BlockId id) {
  FreeList& free_blocks = list(block(id).is_small);
  const BlockId before = block(id).before;
  const BlockId after = block(id).after;
  if (is_free(after)) {
    free_blocks.erase(after);
    join(id, after);
  }
  if (is_free(before)) {
    free_blocks.erase(before);
    join(before, id);
    id = before;
  }
  block(id).is_free = true;
  free_blocks.insert(id);
}

}  // namespace foretrain::memory
