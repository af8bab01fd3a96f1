// SPDX-License-Identifier: Apache-2.0
#include "foretrain/memory/detail/allocator.h"

#include <gtest/gtest.h>

#include <random>

namespace foretrain::memory {
namespace {

constexpr std::uint64_t kKiB = 1 << 10;
constexpr std::uint64_t kMiB = 1 << 20;

TEST(CachingAllocator, SmallRequestsShareASegmentOfTwoMiB) {
  CachingAllocator allocator;
  for (int i = 0; i < 4; ++i) allocator.allocate(512 * kKiB);  // 4 * 512 KiB = 2 MiB
  EXPECT_EQ(allocator.reserved_bytes(), 2 * kMiB);
  allocator.allocate(1);
  EXPECT_EQ(allocator.reserved_bytes(), 4 * kMiB);
}

// 4096 blocks of 512 B fill 2 MiB, however few of the bytes are asked for.
TEST(CachingAllocator, RoundsRequestsUpTo512Bytes) {
  CachingAllocator allocator;
  for (int i = 0; i < 4096; ++i) allocator.allocate(i % 2 == 0 ? 1 : 512);
  EXPECT_EQ(allocator.reserved_bytes(), 2 * kMiB);
  allocator.allocate(513);
  EXPECT_EQ(allocator.reserved_bytes(), 4 * kMiB);
}

TEST(CachingAllocator, MediumRequestsShareASegmentOfTwentyMiB) {
  CachingAllocator allocator;
  for (int i = 0; i < 4; ++i) allocator.allocate(5 * kMiB);
  EXPECT_EQ(allocator.reserved_bytes(), 20 * kMiB);
  allocator.allocate(kMiB + 512);  // more than 1 MiB is not small
  EXPECT_EQ(allocator.reserved_bytes(), 40 * kMiB);
}

TEST(CachingAllocator, LargeRequestsGetASegmentRoundedToTwoMiB) {
  CachingAllocator allocator;
  allocator.allocate(10 * kMiB);
  EXPECT_EQ(allocator.reserved_bytes(), 10 * kMiB);
  allocator.allocate(10 * kMiB + 512);
  EXPECT_EQ(allocator.reserved_bytes(), 22 * kMiB);
}

// Of a free segment of 12 MiB, 11 MiB leave 1 MiB, which is not split off: nothing is left for
// the next. 10.5 MiB leave 1.5 MiB, which is.
TEST(CachingAllocator, SplitsALargeBlockOnlyIfMoreThanOneMiBIsLeft) {
  for (const bool splits : {false, true}) {
    CachingAllocator allocator;
    allocator.free(allocator.allocate(12 * kMiB));
    allocator.allocate(splits ? 10 * kMiB + 512 * kKiB : 11 * kMiB);
    EXPECT_EQ(allocator.reserved_bytes(), 12 * kMiB);
    allocator.allocate(kMiB + 256 * kKiB);
    EXPECT_EQ(allocator.reserved_bytes(), splits ? 12 * kMiB : 32 * kMiB);
  }
}

// The pools are apart: a free large block does not serve a small request.
TEST(CachingAllocator, SmallRequestsDoNotUseLargeBlocks) {
  CachingAllocator allocator;
  allocator.free(allocator.allocate(12 * kMiB));
  allocator.allocate(kMiB);
  EXPECT_EQ(allocator.reserved_bytes(), 14 * kMiB);
}

// Four of 5 MiB fill a segment. Freed in any order, two neighbours make 10 MiB - 512 fit.
TEST(CachingAllocator, NeighboursThatAreFreeMerge) {
  for (const auto& [first, second] : {std::pair{1, 2}, std::pair{2, 1}}) {
    CachingAllocator allocator;
    std::vector<BlockId> blocks;
    for (int i = 0; i < 4; ++i) blocks.push_back(allocator.allocate(5 * kMiB));
    allocator.free(blocks[static_cast<std::size_t>(first)]);
    allocator.free(blocks[static_cast<std::size_t>(second)]);
    allocator.allocate(10 * kMiB - 512);
    EXPECT_EQ(allocator.reserved_bytes(), 20 * kMiB);
  }
}

TEST(CachingAllocator, ABlockBetweenFreeNeighboursMergesWithBoth) {
  CachingAllocator allocator;
  std::vector<BlockId> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(allocator.allocate(5 * kMiB));
  for (const std::size_t i : {0, 2, 1, 3}) allocator.free(blocks[i]);
  allocator.allocate(20 * kMiB);
  EXPECT_EQ(allocator.reserved_bytes(), 20 * kMiB);
}

TEST(CachingAllocator, BlocksThatAreNotNeighboursDoNotMerge) {
  CachingAllocator allocator;
  std::vector<BlockId> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(allocator.allocate(5 * kMiB));
  allocator.free(blocks[0]);
  allocator.free(blocks[2]);
  allocator.allocate(6 * kMiB);
  EXPECT_EQ(allocator.reserved_bytes(), 40 * kMiB);
}

// Holes of 16 MiB and 12 MiB: 11 MiB go into the smaller one, so 16 MiB fit afterwards.
TEST(CachingAllocator, TakesTheSmallestBlockThatFits) {
  CachingAllocator allocator;
  const BlockId large = allocator.allocate(16 * kMiB);
  const BlockId less = allocator.allocate(12 * kMiB);
  allocator.free(large);
  allocator.free(less);
  allocator.allocate(11 * kMiB);
  allocator.allocate(16 * kMiB);
  EXPECT_EQ(allocator.reserved_bytes(), 28 * kMiB);
}

// Laws on random requests: never less reserved than live, and once all is free again the same
// requests need nothing new.
TEST(CachingAllocator, NeverHoldsLessThanIsLiveAndReusesWhatItHas) {
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    CachingAllocator allocator;
    std::vector<std::pair<BlockId, std::uint64_t>> live;
    std::uint64_t live_bytes = 0;
    for (int i = 0; i < 2000; ++i) {
      if (random() % 2 == 0 || live.empty()) {
        const std::uint64_t bytes = (1 + random() % (1U << (random() % 16))) * 512;
        live.emplace_back(allocator.allocate(bytes), bytes);
        live_bytes += bytes;
      } else {
        const std::size_t k = random() % live.size();
        allocator.free(live[k].first);
        live_bytes -= live[k].second;
        live[k] = live.back();
        live.pop_back();
      }
      ASSERT_GE(allocator.reserved_bytes(), live_bytes);
    }
    for (const auto& [block, bytes] : live) allocator.free(block);
    const std::uint64_t reserved = allocator.reserved_bytes();
    std::uint64_t large = 0;
    while (allocator.reserved_bytes() == reserved) {
      allocator.allocate(2 * kMiB);
      large += 2 * kMiB;
    }
    EXPECT_GT(large, 0U);
    EXPECT_LE(large, reserved + 2 * kMiB);
  }
}

}  // namespace
}  // namespace foretrain::memory
