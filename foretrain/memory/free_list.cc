// SPDX-License-Identifier: Apache-2.0
#include "foretrain/memory/detail/free_list.h"

#include <bit>
#include <tuple>

namespace foretrain::memory {
namespace {

// As good as drawn at random, and the same in every run.
std::uint64_t priority(BlockId id) {
  std::uint64_t mixed = (static_cast<std::uint64_t>(id) + 1) * 0x9e3779b97f4a7c15U;
  mixed ^= mixed >> 29U;
  return mixed * 0xbf58476d1ce4e5b9U;
}

}  // namespace

// Sizes are multiples of 512 bytes and below 2^52; what is smaller than 16 of them has a class
// of its own. 43 bits of such units give 39 * 8 + 15 as the last class.
std::size_t FreeList::class_of(std::uint64_t bytes) {
  const std::uint64_t units = bytes >> 9U;
  const auto shift = static_cast<std::size_t>(std::bit_width(units | 8U)) - 4;
  return shift * 8 + (units >> shift);
}

// The least of the next class that has any.
BlockId FreeList::first_above(std::size_t size_class) const {
  std::size_t word = size_class / kWordBits;
  std::uint64_t bits = present_[word] & (~std::uint64_t{1} << (size_class % kWordBits));
  while (bits == 0) {
    if (++word == kWords) return kNoBlock;
    bits = present_[word];
  }
  BlockId least = roots_[word * kWordBits + static_cast<std::size_t>(std::countr_zero(bits))];
  while (block(least).free_left != kNoBlock) least = block(least).free_left;
  return least;
}

BlockId FreeList::best_fit(std::uint64_t bytes) const {
  const std::size_t size_class = class_of(bytes);
  BlockId best = kNoBlock;
  for (BlockId id = roots_[size_class]; id != kNoBlock;) {
    const bool fits = block(id).bytes >= bytes;
    if (fits) best = id;
    id = fits ? block(id).free_left : block(id).free_right;
  }
  return best != kNoBlock ? best : first_above(size_class);
}

bool FreeList::is_before(BlockId a, BlockId b) const {
  return std::tie(block(a).bytes, block(a).address, a) <
         std::tie(block(b).bytes, block(b).address, b);
}

// What lies before `at`, and what behind it.
void FreeList::split(BlockId root, BlockId at, BlockId& left, BlockId& right) const {
  if (root == kNoBlock) {
    left = right = kNoBlock;
  } else if (is_before(root, at)) {
    left = root;
    split(block(root).free_right, at, block(root).free_right, right);
  } else {
    right = root;
    split(block(root).free_left, at, left, block(root).free_left);
  }
}

// Two trees of which one lies before the other.
BlockId FreeList::merge(BlockId left, BlockId right) const {
  if (left == kNoBlock) return right;
  if (right == kNoBlock) return left;
  if (priority(left) > priority(right)) {
    block(left).free_right = merge(block(left).free_right, right);
    return left;
  }
  block(right).free_left = merge(left, block(right).free_left);
  return right;
}

void FreeList::insert(BlockId id) {
  const std::size_t size_class = class_of(block(id).bytes);
  BlockId* link = &roots_[size_class];
  while (*link != kNoBlock && priority(*link) > priority(id)) {
    link = is_before(*link, id) ? &block(*link).free_right : &block(*link).free_left;
  }
  split(*link, id, block(id).free_left, block(id).free_right);
  *link = id;
  present_[size_class / kWordBits] |= std::uint64_t{1} << (size_class % kWordBits);
}

void FreeList::erase(BlockId id) {
  const std::size_t size_class = class_of(block(id).bytes);
  BlockId* link = &roots_[size_class];
  while (*link != id) {
    link = is_before(*link, id) ? &block(*link).free_right : &block(*link).free_left;
  }
  *link = merge(block(id).free_left, block(id).free_right);
  if (roots_[size_class] == kNoBlock) {
    present_[size_class / kWordBits] &= ~(std::uint64_t{1} << (size_class % kWordBits));
  }
}

}  // namespace foretrain::memory
