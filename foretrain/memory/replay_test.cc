// SPDX-License-Identifier: Apache-2.0
#include "foretrain/memory/detail/replay.h"

#include <gtest/gtest.h>

namespace foretrain::memory {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

double reserved(const std::vector<Storage>& storages) {
  return reserved_bytes(storages, events(storages)) / static_cast<double>(kMiB);
}

// One after the other: the second takes the first one's place.
TEST(ReservedBytes, MemoryIsReused) {
  EXPECT_EQ(reserved({{16 * kMiB, 0, 0}, {16 * kMiB, 1, 1}}), 16);
  EXPECT_EQ(reserved({{16 * kMiB, 0, 1}, {16 * kMiB, 1, 1}}), 32);
}

// 30 MiB live at most, but the second of 20 MiB cannot take the freed place of 16 MiB:
// 16 + 10 + 20 = 46.
TEST(ReservedBytes, ABlockThatDoesNotFitNeedsASegmentOfItsOwn) {
  EXPECT_EQ(reserved({{16 * kMiB, 0, 0}, {10 * kMiB, 0, 1}, {20 * kMiB, 1, 1}}), 46);
}

// In the first step the state (of 14 MiB) settles in the place of the activation (of 16 MiB,
// which leaves 2 MiB over), so the second step needs a new segment for the latter.
TEST(ReservedBytes, StatesThatAppearInTheFirstUpdateTakeAPlace) {
  EXPECT_EQ(reserved({{16 * kMiB, 0, 0}, {14 * kMiB, 1, kForever}}), 32);
}

TEST(ReservedBytes, WhatIsKeptIsAskedForOnce) {
  EXPECT_EQ(reserved({{16 * kMiB, kBeforeStep, kForever}, {12 * kMiB, 0, 0}}), 28);
}

// Small things beside 100 MiB are taken as packed: 3 * 0.5 MiB in one segment of 2 MiB. Alone
// they are replayed: the same here.
TEST(ReservedBytes, SmallRequestsComeFromTheirOwnSegments) {
  std::vector<Storage> storages{{kMiB / 2, 0, 2}, {kMiB / 2, 1, 2}, {kMiB / 2, 2, 2}};
  EXPECT_EQ(reserved(storages), 2);
  storages.insert(storages.begin(), {100 * kMiB, kBeforeStep, kForever});
  EXPECT_EQ(reserved(storages), 102);
}

// A step of 16 MiB, one of 24, one of 32: none of the segments before has room for the next, and
// none is given back: 72. From the largest on, one segment serves all.
TEST(ReservedBytes, LongerBatchesNeedNewSegments) {
  const std::vector<Storage> storages{{32 * kMiB, 0, 0, Part::Activations, true}};
  const std::vector<std::int32_t> step = events(storages);
  EXPECT_EQ(reserved_bytes(storages, step, {0.5, 0.75, 1}), 72 * kMiB);
  EXPECT_EQ(reserved_bytes(storages, step, {1, 0.75, 0.5}), 32 * kMiB);
}

// Parameters of 16 MiB do not vary with the batch and are asked for once.
TEST(ReservedBytes, OnlyWhatVariesIsShorter) {
  const std::vector<Storage> storages{{16 * kMiB, kBeforeStep, kForever, Part::Parameters},
                                      {32 * kMiB, 0, 0, Part::Activations, true},
                                      {20 * kMiB, 1, 1, Part::Activations}};
  const std::vector<std::int32_t> step = events(storages);
  EXPECT_EQ(reserved_bytes(storages, step, {0.5, 0.5}), (16 + 16 + 20) * kMiB);
}

// Forward nodes 0 and 1, backward nodes 2 and 3; 16 MiB are kept from 0 to 3, node 1 holds 40 MiB
// while it runs.
const std::vector<Storage> kOfAMicroBatch{{16 * kMiB, 0, 3}, {40 * kMiB, 1, 1}};

// The second micro-batch keeps its 16 MiB in the place that the first one's 40 MiB have left, so
// that its own 40 MiB need a new segment: 16 + 40 + 40 = 96, with 16 + 16 + 40 = 72 live at most.
// One after the other they use the same: 56.
TEST(ReservedBytes, WhatMicroBatchesKeepLiesBetweenWhatComesAndGoes) {
  const std::vector<std::int32_t> step = events(kOfAMicroBatch);
  const std::vector<MicroBatchPass> together{{0, 2, 0}, {0, 2, 1}, {2, 4, 0}, {2, 4, 1}};
  EXPECT_EQ(reserved_bytes(kOfAMicroBatch, step, together), 96 * kMiB);
  const std::vector<MicroBatchPass> apart{{0, 2, 0}, {2, 4, 0}, {0, 2, 1}, {2, 4, 1}};
  EXPECT_EQ(reserved_bytes(kOfAMicroBatch, step, apart), 56 * kMiB);
  EXPECT_EQ(reserved_bytes(kOfAMicroBatch, step), 56 * kMiB);
}

// A gradient of 12 MiB is made by the first backward pass (node 3), in the place of the 16 MiB that
// the micro-batch has kept, so that the second one's need a segment of their own. It is added to,
// not made again, and given back by the update (node 4), whose states of 20 MiB appear in its first
// run: 16 + 16 + 20, and no more in a later step.
TEST(ReservedBytes, MicroBatchesShareGradientsAndStates) {
  const std::vector<Storage> storages{
      {16 * kMiB, 0, 2}, {12 * kMiB, 3, 4}, {20 * kMiB, 4, kForever, Part::Optimizer}};
  const std::vector<MicroBatchPass> passes{{0, 2, 0}, {2, 4, 0}, {0, 2, 1}, {2, 4, 1}};
  EXPECT_EQ(reserved_bytes(storages, events(storages), passes), (16 + 16 + 20) * kMiB);
}

TEST(ReservedBytes, NothingNeedsNothing) { EXPECT_EQ(reserved({}), 0); }

}  // namespace
}  // namespace foretrain::memory
