// SPDX-License-Identifier: Apache-2.0
#include "foretrain/memory/detail/free_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

namespace foretrain::memory {
namespace {

constexpr std::uint64_t kUnit = 512;

BlockId add(std::vector<Block>& blocks, std::uint64_t units, std::uint64_t address) {
  Block block;
  block.bytes = units * kUnit;
  block.address = address;
  blocks.push_back(block);
  return static_cast<BlockId>(blocks.size()) - 1;
}

TEST(FreeList, FindsTheSmallestThatIsLargeEnough) {
  std::vector<Block> blocks;
  FreeList list(blocks);
  EXPECT_EQ(list.best_fit(kUnit), kNoBlock);
  for (const std::uint64_t units : {3000, 1000, 1001, 2000}) list.insert(add(blocks, units, 0));
  EXPECT_EQ(list.best_fit(1000 * kUnit), 1);
  EXPECT_EQ(list.best_fit(1001 * kUnit), 2);
  EXPECT_EQ(list.best_fit(1002 * kUnit), 3);
  EXPECT_EQ(list.best_fit(2001 * kUnit), 0);
  EXPECT_EQ(list.best_fit(3001 * kUnit), kNoBlock);
}

TEST(FreeList, PrefersTheLowestAddressAmongEquals) {
  std::vector<Block> blocks;
  FreeList list(blocks);
  for (const std::uint64_t address : {200, 100, 300}) list.insert(add(blocks, 10, address));
  EXPECT_EQ(list.best_fit(5 * kUnit), 1);
  list.erase(1);
  EXPECT_EQ(list.best_fit(10 * kUnit), 0);
}

// In every order in which blocks of one size may come: half a second for 200,000 of each, where a
// walk through those before them takes minutes.
TEST(FreeList, TakesManyOfOneSize) {
  constexpr BlockId kMany = 200'000;
  std::vector<Block> blocks;
  for (BlockId i = 0; i < kMany; ++i) {
    add(blocks, 7, static_cast<std::uint64_t>(i < kMany / 2 ? 2 * i : 2 * (kMany - i) - 1));
  }
  FreeList list(blocks);
  for (BlockId i = 0; i < kMany; ++i) list.insert(i);
  EXPECT_EQ(list.best_fit(7 * kUnit), 0);
  for (BlockId i = 0; i < kMany / 2; ++i) list.erase(i);
  EXPECT_EQ(blocks[static_cast<std::size_t>(list.best_fit(kUnit))].address, 1U);
}

// A pebibyte, the largest that is replayed, and the 512 bytes below it are told apart.
TEST(FreeList, TellsTheLargestSizesApart) {
  std::vector<Block> blocks;
  FreeList list(blocks);
  constexpr std::uint64_t kPebibyte = (std::uint64_t{1} << 50U) / kUnit;
  list.insert(add(blocks, kPebibyte, 0));
  list.insert(add(blocks, kPebibyte - 1, 0));
  EXPECT_EQ(list.best_fit(kUnit), 1);
  EXPECT_EQ(list.best_fit(kPebibyte * kUnit), 0);
}

// Against a search through all: sizes of many classes, and many of the same class and size.
TEST(FreeList, FindsWhatASearchThroughAllFinds) {
  std::mt19937_64 random(7);
  std::vector<Block> blocks;
  FreeList list(blocks);
  std::vector<BlockId> present;
  const auto smaller = [&](BlockId a, BlockId b) {
    const Block& left = blocks[static_cast<std::size_t>(a)];
    const Block& right = blocks[static_cast<std::size_t>(b)];
    return std::tie(left.bytes, left.address) < std::tie(right.bytes, right.address);
  };
  const auto some_units = [&] { return 1 + random() % (std::uint64_t{2} << random() % 30); };
  for (std::uint64_t i = 0; i < 3000; ++i) {
    if (random() % 2 == 0 || present.size() < 50) {
      present.push_back(add(blocks, some_units(), random() % 1000 * 10000 + i));
      list.insert(present.back());
    } else {
      std::swap(present[random() % present.size()], present.back());
      list.erase(present.back());
      present.pop_back();
    }
    const std::uint64_t wanted = some_units() * kUnit;
    std::sort(present.begin(), present.end(), smaller);
    const auto found = std::find_if(present.begin(), present.end(), [&](BlockId id) {
      return blocks[static_cast<std::size_t>(id)].bytes >= wanted;
    });
    ASSERT_EQ(list.best_fit(wanted), found == present.end() ? kNoBlock : *found);
  }
}

}  // namespace
}  // namespace foretrain::memory
