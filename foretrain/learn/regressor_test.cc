// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/regressor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/learn/regressor_file.h"

namespace foretrain::learn {
namespace {

const std::vector<double> kFeatures{3, 5};

// 1 + 2 x 3 - 5 = 2.
const Regressor kLinear = LinearModel{1, {2, -1}};

// Two trees of a forest of two: 3 is below 4, so the first gives half of 8; the second is a leaf of
// half of 2.
const Regressor kTrees = Trees{0, {0, 3}, {{0, 4, 1}, {-1, 4, 0}, {-1, 7, 0}, {-1, 1, 0}}};

// Standardised (1, 2), the one vector is (1, 0), at a distance of 4: 10 + 3 exp(-0.5 x 4).
const Regressor kKernel = KernelModel{{{2, 1}, {1, 2}}, 0.5, 10, {{1, 0}}, {3}};

// Standardised (1, 2); hidden tanh(0.5 x 1 + 0.25 x 2 - 1) = 0 and tanh(1); 4 + 6 x 0 + 2 tanh 1.
const Regressor kDense =
    DenseModel{{{2, 1}, {1, 2}}, {{{{0.5, 0.25}, {1, 0}}, {-1, 0}}, {{{6, 2}}, {4}}}};

TEST(Regressor, GivesWhatIsWorkedOutByHand) {
  EXPECT_DOUBLE_EQ(evaluate(kLinear, kFeatures), 2);
  EXPECT_DOUBLE_EQ(evaluate(kTrees, kFeatures), 5);
  EXPECT_DOUBLE_EQ(evaluate(kKernel, kFeatures), 10 + 3 * std::exp(-2.0));
  EXPECT_DOUBLE_EQ(evaluate(kDense, kFeatures), 4 + 2 * std::tanh(1.0));
}

TEST(Regressor, IsTheSameAfterAFile) {
  for (const Regressor& one : {kLinear, kTrees, kKernel, kDense}) {
    ASSERT_TRUE(is_sound(one, 2));
    const std::string text = write_regressor(one);
    const Regressor read = read_regressor(text, 2, "file");
    EXPECT_EQ(write_regressor(read), text);
    EXPECT_DOUBLE_EQ(evaluate(read, kFeatures), evaluate(one, kFeatures));
  }
}

TEST(Regressor, IsRefusedWithOtherFeaturesOrWithoutSense) {
  for (const Regressor& one : {kLinear, kKernel, kDense}) {
    EXPECT_THROW(read_regressor(write_regressor(one), 3, "file"), Error);
  }
  EXPECT_FALSE(is_sound(kTrees, 0));
  EXPECT_FALSE(is_sound(KernelModel{{{0}, {0}}, 1, 0, {}, {}}, 1));  // a deviation of 0
  for (const char* text : {R"({"kind": "magic"})", R"({"kind": "trees", "data": "AAAA"})",
                           R"({"kind": "linear", "intercept": 1, "weights": ["x"]})",
                           R"({"kind": "dense", "mean": [], "deviation": [], "layers": []})"}) {
    EXPECT_THROW(read_regressor(text, 0, "file"), Error) << text;
  }
}

}  // namespace
}  // namespace foretrain::learn
