// SPDX-License-Identifier: Apache-2.0
#include "foretrain/scaling/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "foretrain/base/error.h"

namespace foretrain::scaling {
namespace {

// 12 workers' counts by 8 batches: time per sample, least at 8 workers and a batch of 64.
SearchSpace space() {
  return parse_space(R"({"variables": {"batch": [1, 2, 4, 8, 16, 32, 64, 128],
                         "workers": [1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32]}})",
                     "test");
}

double time_of(const std::vector<std::string>& point) {
  const double batch = std::log2(number_in(point[0]).value());
  const double workers = std::log2(number_in(point[1]).value());
  return std::exp(0.1 * (batch - 6) * (batch - 6) + 0.2 * (workers - 3) * (workers - 3));
}

std::vector<Tried> run(const SearchSpace& in, const SearchOptions& options) {
  std::vector<Tried> history;
  while (const auto next = next_point(in, history, options)) {
    history.push_back({next->point, time_of(in.points[next->point])});
  }
  return history;
}

TEST(SearchSpace, HasAllCombinationsInTheUnitCube) {
  const SearchSpace in =
      parse_space(R"({"variables": {"kind": ["ddp", "ps"], "workers": [1, 4, 16]}})", "test");
  ASSERT_EQ(in.points.size(), 6U);
  EXPECT_EQ(in.points[1], (std::vector<std::string>{"ddp", "4"}));
  // ddp, ps, and log 4 half way between log 1 and log 16.
  EXPECT_EQ(in.coordinates[1], (std::vector<double>{1, 0, 0.5}));
  EXPECT_EQ(find_point(in, {"ps", "16"}), 5U);
  EXPECT_FALSE(find_point(in, {"ps", "2"}));
}

TEST(SearchSpace, RefusesWhatIsNone) {
  for (const char* text : {"[]", "{}", R"({"variables": {}})", R"({"variables": {"a": 1}})",
                           R"({"variables": {"a": [1, 1]}})", R"({"variables": {"a": [null]}})",
                           R"({"variables": {"a": [1]}, "x": 1})", R"({"variables": {"": [1]}})",
                           R"({"variables": {"goal": [1]}})", R"({"variables": {"a": ["\u0000"]}})",
                           R"({"variables": {"\ufeffa": [1]}})"}) {
    EXPECT_THROW(parse_space(text, "test"), Error) << text;
  }
}

// 65 words are as many dimensions, 100,001 points more than a search looks at.
TEST(SearchSpace, RefusesWhatASearchCannotLookAt) {
  std::vector<std::vector<std::string>> points;
  for (int i = 0; i < 64; ++i) points.push_back({"word" + std::to_string(i)});
  EXPECT_EQ(space_of({"a"}, points, "test").coordinates.front().size(), 64U);
  points.push_back({"one more"});
  EXPECT_THROW(space_of({"a"}, points, "test"), Error);
  EXPECT_THROW(space_of({"a"}, {kMostPoints + 1, {"1"}}, "test"), Error);
  std::string many;
  for (int i = 0; i < 65; ++i) many += (i == 0 ? "\"a" : ", \"a") + std::to_string(i) + "\": [1]";
  EXPECT_THROW(parse_space("{\"variables\": {" + many + "}}", "test"), Error);
}

// Their products with others would be infinite or 0, and no goal.
TEST(SearchSpace, NumbersBeyondAllBoundsAreWords) {
  EXPECT_EQ(number_in("1e150"), 1e150);
  EXPECT_EQ(number_in("0"), 0.0);
  for (const char* text : {"1e151", "-1e300", "1e-160", "nan", "inf", "1x", ""}) {
    EXPECT_FALSE(number_in(text)) << text;
  }
  const SearchSpace in = parse_space(R"({"variables": {"a": [1e150, -1e150, 0]}})", "test");
  EXPECT_EQ(in.coordinates[0], std::vector<double>{1});
  EXPECT_EQ(in.coordinates[2], std::vector<double>{0.5});
}

TEST(Search, FindsTheBestInFewRuns) {
  const SearchSpace in = space();
  const std::vector<Tried> history = run(in, {.most = 40, .stop = 0.001, .seed = 2});
  const auto best = best_of(in, history, {});
  ASSERT_TRUE(best);
  EXPECT_LT(*history[*best].time_s, 1.05);
  EXPECT_LT(history.size(), 30U);  // of 96
  std::set<std::size_t> different;
  for (const Tried& one : history) different.insert(one.point);
  EXPECT_EQ(different.size(), history.size());
}

TEST(Search, StopsWhereLittleIsToBeGained) {
  const std::vector<Tried> early = run(space(), {.most = 40, .stop = 0.1, .seed = 2});
  const std::vector<Tried> late = run(space(), {.most = 40, .stop = 0.001, .seed = 2});
  EXPECT_GE(early.size(), 6U);
  EXPECT_LE(early.size(), late.size());
  EXPECT_EQ(run(space(), {.most = 4}).size(), 4U);
}

TEST(Search, IsTakenUpAgainWhereItEnded) {
  const SearchSpace in = space();
  const std::vector<Tried> whole = run(in, {.most = 12, .stop = 0, .seed = 3});
  std::vector<Tried> half(whole.begin(), whole.begin() + 7);
  EXPECT_EQ(next_point(in, half, {.most = 12, .stop = 0, .seed = 3})->point, whole[7].point);
}

// Cost is time times workers: fewer workers are better than for the time alone. A deadline of 1.05
// leaves 6 workers, at 1.035 s, and 8, at 1 s: 6 x 1.035 = 6.2 is less than 8.
TEST(Search, MinimisesCostUnderADeadline) {
  const SearchSpace in = space();
  SearchOptions options{.most = 96, .stop = 0, .price = 1};
  const std::vector<Tried> cheap = run(in, options);
  const auto cheapest = best_of(in, cheap, options);
  EXPECT_LT(number_in(in.points[cheap[*cheapest].point][1]).value(), 8);
  options.deadline_s = 1.05;
  const auto in_time = best_of(in, cheap, options);
  EXPECT_LE(*cheap[*in_time].time_s, 1.05);
  EXPECT_EQ(in.points[cheap[*in_time].point][1], "6");
}

TEST(Search, GoesOnAfterFailures) {
  const SearchSpace in = space();
  std::vector<Tried> history;
  for (int i = 0; i < 5; ++i) {
    history.push_back({next_point(in, history, {})->point, {}});
  }
  EXPECT_FALSE(best_of(in, history, {}));
  EXPECT_TRUE(next_point(in, history, {}));
}

// Nothing is promised where all beliefs are no numbers: one of the untried points is drawn.
TEST(Search, DrawsWhereNothingIsPromised) {
  const SearchSpace in = space();
  const std::vector<Tried> history{{0, -1.0}, {1, -1.0}, {2, -1.0}};
  const auto next = next_point(in, history, {.first = 1});
  ASSERT_TRUE(next);
  EXPECT_LT(next->point, in.points.size());
  EXPECT_GT(next->point, 2U);
}

TEST(Search, DrawsWhereItIsAskedTo) {
  const SearchSpace in = space();
  const std::vector<Tried> history = run(in, {.random = true, .seed = 4});
  EXPECT_EQ(history.size(), 96U);
}

}  // namespace
}  // namespace foretrain::scaling
