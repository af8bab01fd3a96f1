// SPDX-License-Identifier: Apache-2.0
#include "foretrain/evaluate/detail/summary.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"

namespace foretrain::evaluate {
namespace {

Case predicted(const std::string& model, int workers, double error) {
  Case one;
  one.file = "f";
  one.model = model;
  one.workers = workers;
  one.outcome = Outcome::Predicted;
  one.error = error;
  return one;
}

Case failed(Outcome outcome, const std::string& reason, std::size_t line) {
  Case one;
  one.file = "f";
  one.model = "c";
  one.outcome = outcome;
  one.reason = reason;
  one.line = line;
  return one;
}

Evaluation summarise(const Options& options, const std::vector<Case>& cases) {
  Summary summary(options);
  for (const Case& one : cases) summary.add(one);
  return summary.finish();
}

const std::vector<Case> kCases{predicted("a", 10, 0.1),
                               predicted("a", 2, -0.3),
                               predicted("b", 2, 0.2),
                               failed(Outcome::Unmapped, "no batch", 7),
                               failed(Outcome::Refused, "too new", 8),
                               failed(Outcome::Refused, "too new", 9)};

// Errors 0.1, -0.3, 0.2: MAPE 0.2, median 0.2, bias 0; a: 0.2, b: 0.2, c: none. The first of two
// equally bad models is named.
TEST(Summary, ScoresWhatIsPredicted) {
  const Score total = summarise({}, kCases).total;
  EXPECT_EQ(total.rows, 6U);
  EXPECT_EQ(total.predicted, 3U);
  EXPECT_EQ(total.refused, 2U);
  EXPECT_NEAR(total.mape, 0.2, 1e-15);
  EXPECT_NEAR(total.median_ape, 0.2, 1e-15);
  EXPECT_NEAR(total.bias, 0, 1e-15);
  EXPECT_EQ(total.worst_model, "a");
}

// Two more errors of -1: (0.6 + 2) / 5 = 0.52, bias (0 - 2) / 5 = -0.4.
TEST(Summary, CountsRefusedRowsAsFullErrorsOnDemand) {
  Options options;
  options.count_refused = true;
  const Score total = summarise(options, kCases).total;
  EXPECT_NEAR(total.mape, 0.52, 1e-15);
  EXPECT_NEAR(total.bias, -0.4, 1e-15);
  EXPECT_EQ(total.worst_model, "c");
  EXPECT_EQ(total.worst_mape, 1);
}

TEST(Summary, GroupsByAnyKeyAndSortsNumbersBySize) {
  Options options;
  options.by = {"model", "workers"};
  const Evaluation evaluation = summarise(options, kCases);
  std::vector<std::vector<std::string>> keys;
  for (const Group& group : evaluation.groups) keys.push_back(group.key);
  EXPECT_EQ(keys, (std::vector<std::vector<std::string>>{
                      {"a", "2"}, {"a", "10"}, {"b", "2"}, {"c", ""}}));
  EXPECT_FALSE(has_errors(evaluation.groups.back().score));
  EXPECT_EQ(evaluation.files.size(), 1U);
}

TEST(Summary, ListsReasonsWithTheMostFrequentFirst) {
  const std::vector<Reason> reasons = summarise({}, kCases).reasons;
  ASSERT_EQ(reasons.size(), 2U);
  EXPECT_EQ(reasons[0].text, "too new");
  EXPECT_EQ(reasons[0].rows, 2U);
  EXPECT_EQ(reasons[0].first_line, 8U);
  EXPECT_EQ(reasons[0].outcome, Outcome::Refused);
  EXPECT_EQ(reasons[1].text, "no batch");
}

TEST(Summary, RefusesKeysThatDoNotExist) {
  Options options;
  options.by = {"colour"};
  EXPECT_THROW(Summary{options}, Error);
  options.by = {};
  EXPECT_THROW(Summary{options}, Error);
}

}  // namespace
}  // namespace foretrain::evaluate
