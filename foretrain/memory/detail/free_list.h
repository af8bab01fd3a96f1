// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace foretrain::memory {

using BlockId = std::int32_t;
inline constexpr BlockId kNoBlock = -1;

// A piece of a segment. Neighbours in the segment, and children in the free list's tree while it is
// free; kNoBlock where there is none.
struct Block {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  BlockId before = kNoBlock;
  BlockId after = kNoBlock;
  BlockId free_left = kNoBlock;
  BlockId free_right = kNoBlock;
  bool is_free = false;
  bool is_small = false;
};

// The free ones among `blocks`, which it links and which must outlive it: a segregated fit. Each
// class of sizes (eight to a power of two) is a tree by size, then by address, and a bit says
// whether it has any, so that a search looks at one class and at the least of the next that is
// not empty. A model of thousands of equal layers frees thousands of blocks of one size: the trees
// are treaps, whose depth is the logarithm of that. Sources: Masmano et al., "TLSF: a new dynamic
// memory allocator for real-time systems" (ECRTS 2004); Seidel, Aragon, "Randomized search trees"
// (Algorithmica 1996).
class FreeList {
 public:
  explicit FreeList(std::vector<Block>& blocks) : blocks_(&blocks) { roots_.fill(kNoBlock); }

  // The smallest that has at least `bytes`, the lowest address among equals; or kNoBlock.
  BlockId best_fit(std::uint64_t bytes) const;
  void insert(BlockId id);
  void erase(BlockId id);

 private:
  static constexpr std::size_t kWordBits = 64;
  static constexpr std::size_t kWords = 6;

  static std::size_t class_of(std::uint64_t bytes);
  BlockId first_above(std::size_t size_class) const;
  bool is_before(BlockId a, BlockId b) const;
  void split(BlockId root, BlockId at, BlockId& left, BlockId& right) const;
  BlockId merge(BlockId left, BlockId right) const;
  Block& block(BlockId id) const { return (*blocks_)[static_cast<std::size_t>(id)]; }

  std::vector<Block>* blocks_;
  std::array<BlockId, kWordBits * kWords> roots_;  // of each class
  std::array<std::uint64_t, kWords> present_{};    // a bit for each class
};

}  // namespace foretrain::memory
