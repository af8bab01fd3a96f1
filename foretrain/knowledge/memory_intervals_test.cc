// SPDX-License-Identifier: Apache-2.0
#include "foretrain/knowledge/memory_intervals.h"

#include <gtest/gtest.h>

#include <cmath>

#include "foretrain/base/error.h"

namespace foretrain {
namespace {

// Quantiles at -0.07, -0.06, ..., 0.07: the median is 0.
MemoryCell even_cell() {
  MemoryCell cell{-0.05, 0.05, {}, 30, 3};
  for (std::size_t i = 0; i < cell.quantiles.size(); ++i) {
    cell.quantiles[i] = 0.01 * (static_cast<double>(i) - 7);
  }
  return cell;
}

// Half are at most as predicted; 0.015 lies between the quantiles of 0.6 and 0.7.
TEST(ShareWithin, IsInProportionBetweenQuantiles) {
  EXPECT_NEAR(share_within(even_cell(), 1), 0.5, 1e-12);
  EXPECT_NEAR(share_within(even_cell(), std::exp(0.015)), 0.65, 1e-9);
}

TEST(ShareWithin, NothingIsSure) {
  EXPECT_EQ(share_within(even_cell(), 0.5), 0.01);
  EXPECT_EQ(share_within(even_cell(), 2), 0.99);
}

TEST(ShareWithin, NeverFallsWhenThereIsMoreRoom) {
  double before = 0;
  for (double ratio = 0.8; ratio < 1.3; ratio *= 1.003) {
    const double share = share_within(even_cell(), ratio);
    EXPECT_GE(share, before);
    before = share;
  }
}

// Several rows with one error make equal quantiles: the share jumps there.
TEST(ShareWithin, EqualQuantilesAreAStep) {
  MemoryCell cell;
  EXPECT_EQ(share_within(cell, 0.999), 0.01);
  EXPECT_EQ(share_within(cell, 1.001), 0.99);
}

TEST(MemoryIntervals, AreReadAsTheyWereWritten) {
  MemoryIntervals written{0.9, {Trait::Family}, {{"", even_cell()}, {"cnn", even_cell()}}};
  const std::vector<std::string> notes{"a note"};
  const MemoryIntervals read = read_memory_intervals(write_memory_intervals(written, notes), "f");
  EXPECT_EQ(read.traits, written.traits);
  EXPECT_EQ(read.cells.at("cnn").quantiles, even_cell().quantiles);
  Regime regime;
  word(regime, Trait::Family) = "cnn";
  EXPECT_EQ(find_cell(read, regime), &read.cells.at("cnn"));
  word(regime, Trait::Family) = "other";
  EXPECT_EQ(find_cell(read, regime), &read.cells.at(""));
}

TEST(MemoryIntervals, DamagedFilesAreRefused) {
  MemoryIntervals intervals{0.9, {}, {{"", even_cell()}}};
  std::string text = write_memory_intervals(intervals, {});
  EXPECT_THROW(read_memory_intervals("{}", "f"), Error);
  std::swap(intervals.cells[""].quantiles[0], intervals.cells[""].quantiles[1]);
  EXPECT_THROW(read_memory_intervals(write_memory_intervals(intervals, {}), "f"), Error);
  text.replace(text.find("\"rows\":30"), 9, "\"rows\":-1");
  EXPECT_THROW(read_memory_intervals(text, "f"), Error);
}

}  // namespace
}  // namespace foretrain
