// SPDX-License-Identifier: Apache-2.0
#include "foretrain/knowledge/spread.h"

#include <gtest/gtest.h>

#include <cmath>

namespace foretrain {
namespace {

Spread some_spread() {
  Spread spread{
      .base = {std::log(0.2), 0}, .words = {}, .communication = {std::log(4), 0}, .host = {}};
  spread.words[Trait::Family]["cnn"] = {std::log(2), std::log(1.5)};
  spread.words[Trait::Scale]["nodes"] = {std::log(3), 0};
  return spread;
}

Regime regime(const std::string& family, const std::string& scale) {
  Regime made;
  word(made, Trait::Family) = family;
  word(made, Trait::Scale) = scale;
  return made;
}

// Only the base: 0.2 either way. A word that no fit has seen adds nothing.
TEST(Spread, TheBaseIsForAll) {
  const Ends ends = ends_of(some_spread(), regime("other", "one"), {});
  EXPECT_NEAR(ends.low, -0.2, 1e-12);
  EXPECT_NEAR(ends.high, 0.2, 1e-12);
}

// 0.2 * 2 * 3 = 1.2 for both ends, 1.5 times more above and less below: 1.8 and 0.8.
TEST(Spread, EffectsMultiply) {
  const Ends ends = ends_of(some_spread(), regime("cnn", "nodes"), {});
  EXPECT_NEAR(ends.low, -0.8, 1e-12);
  EXPECT_NEAR(ends.high, 1.8, 1e-12);
}

// Half of the step is communication: 0.2 * 4^0.5.
TEST(Spread, SharesCountInProportion) {
  EXPECT_NEAR(ends_of(some_spread(), regime("other", "one"), {.communication = 0.5}).high, 0.4,
              1e-12);
  EXPECT_NEAR(ends_of(some_spread(), regime("other", "one"), {.host = 1}).high, 0.2, 1e-12);
}

TEST(Spread, EndsAreBounded) {
  Spread spread;
  spread.base = {1000, 0};
  EXPECT_EQ(ends_of(spread, {}, {}).low, -kWidestEnd);
  EXPECT_EQ(ends_of(spread, {}, {}).high, kWidestEnd);
}

}  // namespace
}  // namespace foretrain
