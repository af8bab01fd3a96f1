// SPDX-License-Identifier: Apache-2.0
#include "foretrain/memory/detail/free_list.h"

#include <bit>

namespace foretrain::memory {

// Sizes are multiples of 512 bytes and below 2^52; what is smaller than 16 of them has a class
// of its own. 43 bits of such units give 39 * 8 + 15 as the last class.
std::size_t FreeList::class_of(std::uint64_t bytes) {
  const std::uint64_t units = bytes >> 9U;
  const auto shift = static_cast<std::size_t>(std::bit_width(units | 8U)) - 4;
  return shift * 8 + (units >> shift);
}

// The head of the next class that has any.
BlockId FreeList::first_above(std::size_t size_class) const {
  std::size_t word = size_class / kWordBits;
  std::uint64_t bits = present_[word] & (~std::uint64_t{1} << (size_class % kWordBits));
  while (bits == 0) {
    if (++word == kWords) return kNoBlock;
    bits = present_[word];
  }
  return heads_[word * kWordBits + static_cast<std::size_t>(std::countr_zero(bits))];
}

BlockId FreeList::best_fit(std::uint64_t bytes) const {
  const std::size_t size_class = class_of(bytes);
  for (BlockId id = heads_[size_class]; id != kNoBlock; id = block(id).free_after) {
    if (block(id).bytes >= bytes) return id;
  }
  return first_above(size_class);
}

void FreeList::insert(BlockId id) {
  Block& added = block(id);
  const std::size_t size_class = class_of(added.bytes);
  BlockId before = kNoBlock;
  BlockId after = heads_[size_class];
  while (after != kNoBlock) {
    const Block& next = block(after);
    if (next.bytes > added.bytes) break;
    if (next.bytes == added.bytes && next.address > added.address) break;
    before = after;
    after = next.free_after;
  }
  added.free_before = before;
  added.free_after = after;
  if (after != kNoBlock) block(after).free_before = id;
  if (before != kNoBlock) {
    block(before).free_after = id;
  } else {
    heads_[size_class] = id;
    present_[size_class / kWordBits] |= std::uint64_t{1} << (size_class % kWordBits);
  }
}

void FreeList::erase(BlockId id) {
  const Block& erased = block(id);
  if (erased.free_after != kNoBlock) block(erased.free_after).free_before = erased.free_before;
  if (erased.free_before != kNoBlock) {
    block(erased.free_before).free_after = erased.free_after;
    return;
  }
  const std::size_t size_class = class_of(erased.bytes);
  heads_[size_class] = erased.free_after;
  if (erased.free_after == kNoBlock) {
    present_[size_class / kWordBits] &= ~(std::uint64_t{1} << (size_class % kWordBits));
  }
}

}  // namespace foretrain::memory
