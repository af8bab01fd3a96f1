// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "foretrain/memory/detail/free_list.h"

namespace foretrain::memory {

inline constexpr std::int64_t kSmallPoolBytes = 1 << 20;     // requests up to here
inline constexpr std::int64_t kSmallSegmentBytes = 2 << 20;  // come from segments of this size

// PyTorch's caching allocator for one stream, without memory behind it: what it reserves, splits
// and merges. Sizes are in bytes; the smallest piece is 512.
//
//   up to 1 MiB      from segments of 2 MiB; what is left of a block is split off
//   below 10 MiB     from segments of 20 MiB; split off if more than 1 MiB is left
//   larger           from a segment of its own, rounded up to 2 MiB; likewise
//
// The smallest free block that is large enough is taken, the lowest address among equals;
// neighbours that are free merge. Segments are never given back: PyTorch does so only when the
// device is full. Source: PyTorch, c10/cuda/CUDACachingAllocator.cpp.
class CachingAllocator {
 public:
  CachingAllocator() = default;
  CachingAllocator(const CachingAllocator&) = delete;  // the lists point to the blocks
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  BlockId allocate(std::uint64_t bytes);
  void free(BlockId id);
  bool has_room(std::uint64_t bytes) const;  // without a new segment
  std::uint64_t reserved_bytes() const { return reserved_; }

 private:
  Block& block(BlockId id) { return blocks_[static_cast<std::size_t>(id)]; }
  const FreeList& list(bool is_small) const { return is_small ? small_ : large_; }
  FreeList& list(bool is_small) { return is_small ? small_ : large_; }
  bool is_free(BlockId id) { return id != kNoBlock && block(id).is_free; }
  BlockId add(const Block& block);
  BlockId add_segment(std::uint64_t bytes);
  BlockId cut(BlockId id, std::uint64_t bytes);
  void join(BlockId id, BlockId after);

  std::vector<Block> blocks_;
  std::vector<BlockId> unused_;  // ids of blocks that were merged into others
  FreeList large_{blocks_};
  FreeList small_{blocks_};
  std::uint64_t reserved_ = 0;
};

}  // namespace foretrain::memory
