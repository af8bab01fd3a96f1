// SPDX-License-Identifier: Apache-2.0
#include "foretrain/scaling/search_svg.h"

#include <gtest/gtest.h>

namespace foretrain::scaling {
namespace {

SearchSpace space() { return parse_space(R"({"variables": {"w<": [1, 2, 4]}})", "test"); }

// Three runs share 640 pixels from 80 on: x = 80 + 640 (i + 0.5) / 3. Goals 8 and 2 are the ends of
// 260 pixels from 34 on, the one that failed lies on the upper edge. The best falls from the first
// run's place to the third's.
TEST(SearchSvg, ShowsRunsAndTheBestSoFar) {
  const std::string svg = search_svg(space(), {{0, 8.0}, {1, {}}, {2, 2.0}}, {});
  EXPECT_NE(svg.find("<circle cx=\"186.7\" cy=\"34.0\" r=\"4\" fill=\"#2c6fbb\""), svg.npos) << svg;
  EXPECT_NE(svg.find("<circle cx=\"400.0\" cy=\"34.0\" r=\"4\" fill=\"#fff\""), svg.npos) << svg;
  EXPECT_NE(svg.find("<circle cx=\"613.3\" cy=\"294.0\""), svg.npos) << svg;
  EXPECT_NE(svg.find("d=\"M186.7 34.0H400.0V34.0H613.3V294.0\""), svg.npos) << svg;
  EXPECT_NE(svg.find("run 2: w&lt;=2: failed"), svg.npos) << svg;
}

// The price doubles with each point, so that 8 s at 1 and 2 s at 4 cost the same.
TEST(SearchSvg, TheGoalIsTheCostWhereThereIsAPrice) {
  SearchOptions options;
  options.price = 0;
  const std::string svg = search_svg(space(), {{0, 8.0}, {2, 2.0}}, options);
  EXPECT_NE(svg.find("cx=\"240.0\" cy=\"164.0\""), svg.npos) << svg;
  EXPECT_NE(svg.find("cx=\"560.0\" cy=\"164.0\""), svg.npos) << svg;
}

// The ratio of these goals is no number of a double; their logarithms are.
TEST(SearchSvg, GoalsMayBeFarApart) {
  const std::string svg = search_svg(space(), {{0, 1e-200}, {1, 1.0}, {2, 1e200}}, {});
  EXPECT_EQ(svg.find("nan"), svg.npos) << svg;
  EXPECT_NE(svg.find("cx=\"400.0\" cy=\"164.0\""), svg.npos) << svg;
}

TEST(SearchSvg, NoRunIsNoMark) {
  EXPECT_EQ(search_svg(space(), {}, {}).find("<circle"), std::string::npos);
}

}  // namespace
}  // namespace foretrain::scaling
