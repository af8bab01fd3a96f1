// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/divisions.h"

#include <gtest/gtest.h>

#include <set>

namespace foretrain::train {
namespace {

// Workers 1 to 6, each at batches 8, 16, 32, 64, twice.
ScalingRows grid() {
  ScalingRows rows;
  for (const double workers : {1, 2, 3, 4, 5, 6}) {
    for (const double batch : {8, 16, 32, 64}) {
      for (int repeat = 0; repeat < 2; ++repeat) rows.push_back({{workers, batch}, 1});
    }
  }
  return rows;
}

std::set<double> values(const ScalingRows& rows, const std::vector<std::size_t>& which,
                        std::size_t variable) {
  std::set<double> result;
  for (const std::size_t i : which) result.insert(rows[i].values[variable]);
  return result;
}

TEST(Divisions, RepeatsStayInOneFold) {
  const ScalingRows rows = grid();
  const std::vector<std::size_t> fold = folds_of(rows, 2, 5, 1);
  for (std::size_t i = 0; i < rows.size(); i += 2) EXPECT_EQ(fold[i], fold[i + 1]);
  EXPECT_EQ(std::set(fold.begin(), fold.end()).size(), 5U);
  EXPECT_EQ(fold, folds_of(rows, 2, 5, 1));
  EXPECT_NE(fold, folds_of(rows, 2, 5, 2));
  const std::vector<Division> divisions = by_folds(fold);
  ASSERT_EQ(divisions.size(), 5U);
  std::size_t judged = 0;
  for (const Division& one : divisions) {
    EXPECT_EQ(one.train.size() + one.test.size(), rows.size());
    judged += one.test.size();
  }
  EXPECT_EQ(judged, rows.size());
}

// Of 1 to 6 the third lies between others (the sixth is the last); of four batches the third.
TEST(Divisions, ValuesBetweenOthersAreLeftOut) {
  const ScalingRows rows = grid();
  EXPECT_EQ(values(rows, leave_out({in_between(rows, 0)}).test, 0), std::set<double>{3});
  EXPECT_EQ(values(rows, leave_out({in_between(rows, 1)}).test, 1), std::set<double>{32});
  EXPECT_EQ(leave_out({in_between({{{1}, 1}, {{2}, 1}, {{3}, 1}}, 0)}).test.size(), 0U);
}

// Of six values two, of four one, of two none.
TEST(Divisions, TheHighestThirdIsLeftOut) {
  const ScalingRows rows = grid();
  const Division workers = leave_out({at_the_end(rows, 0)});
  EXPECT_EQ(values(rows, workers.test, 0), (std::set<double>{5, 6}));
  EXPECT_EQ(values(rows, workers.train, 0), (std::set<double>{1, 2, 3, 4}));
  EXPECT_EQ(values(rows, leave_out({at_the_end(rows, 1)}).test, 1), std::set<double>{64});
  EXPECT_TRUE(leave_out({at_the_end({{{1}, 1}, {{2}, 1}}, 0)}).test.empty());
  // Of workers one, two and three values, of batches one and two, and each time both.
  EXPECT_EQ(by_ends(rows, {0, 1}).size(), 8U);
  EXPECT_EQ(by_ends(rows, {1}).size(), 2U);
}

// 5 or 6 workers and a batch of 64: judged; neither: learned from; one of them: neither.
TEST(Divisions, TogetherMeansLeftOutInTwo) {
  const ScalingRows rows = grid();
  const Division both = leave_out({at_the_end(rows, 0), at_the_end(rows, 1)});
  EXPECT_EQ(both.test.size(), 4U);
  EXPECT_EQ(both.train.size(), 24U);
}

}  // namespace
}  // namespace foretrain::train
