// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/hybrid_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "foretrain/base/error.h"

namespace foretrain::learn {
namespace {

constexpr std::size_t kFeatures = 3;

// Residual: x0 < 2 ? (x1 < 5 ? 1 : 2) : 4 and a leaf of 0.5. Absolute: one leaf, 7.
Hybrid made() {
  Hybrid hybrid{2, 0.25, 0.5, {}, {}};
  hybrid.residual.base = 10;
  hybrid.residual.roots = {0, 5};
  hybrid.residual.nodes = {{0, 2, 1}, {1, 5, 3}, {-1, 4, 0}, {-1, 1, 0}, {-1, 2, 0}, {-1, 0.5F, 0}};
  hybrid.absolute = {-1, {0}, {{-1, 7, 0}}};
  return hybrid;
}

bool refused(const std::vector<float>& numbers) {
  try {
    hybrid_from(numbers, kFeatures, "the file");
  } catch (const Error& error) {
    return error.kind() == ErrorKind::BadInput &&
           std::string(error.what()).find("the file") != std::string::npos;
  }
  return false;
}

// Physics is feature 2, written as 3. Two trees of 5 nodes and of 1, then one of 1.
TEST(HybridFile, IsWrittenNumberByNumber) {
  const std::vector<float> expected{3,  0.25F, 0.5F,                                       //
                                    10, 2,     5,    1,  0, 2, 1, 5, -1, 4, -1, 1, -1, 2,  //
                                    -1, 0.5F,                                              //
                                    -1, 1,     1,    -1, 7};
  EXPECT_EQ(to_numbers(made()), expected);
}

TEST(HybridFile, IsTheSameAfterReading) {
  const Hybrid read = hybrid_from(to_numbers(made()), kFeatures, "the file");
  EXPECT_EQ(to_numbers(read), to_numbers(made()));
  for (const std::vector<double>& x :
       {std::vector<double>{1, 1, 0}, {1, 5, 1}, {2, 1, -3}, {2, 9, 100}}) {
    EXPECT_EQ(evaluate(read, x), evaluate(made(), x));
  }
}

TEST(HybridFile, KeepsWhatHasNoPhysicsAndNoTrees) {
  const Hybrid read = hybrid_from(to_numbers({}), 0, "the file");
  EXPECT_FALSE(read.physics);
  EXPECT_EQ(evaluate(read, {}), 0);
}

TEST(HybridFile, RefusesEveryBeginningOfItself) {
  const std::vector<float> whole = to_numbers(made());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_TRUE(refused({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}))
        << size;
  }
  std::vector<float> longer = whole;
  longer.push_back(0);
  EXPECT_TRUE(refused(longer));
}

TEST(HybridFile, RefusesWhatIsNotFiniteAnywhere) {
  const std::vector<float> whole = to_numbers(made());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      std::vector<float> damaged = whole;
      damaged[i] = bad;
      EXPECT_TRUE(refused(damaged)) << i;
    }
  }
}

// The places as IsWrittenNumberByNumber lists them.
TEST(HybridFile, RefusesNumbersThatMeanNothing) {
  const auto with = [](std::size_t place, float value) {
    std::vector<float> numbers = to_numbers(made());
    numbers.at(place) = value;
    return numbers;
  };
  EXPECT_FALSE(refused(with(0, 1)));    // another feature
  EXPECT_TRUE(refused(with(0, 4)));     // a feature that is not there
  EXPECT_TRUE(refused(with(0, -1)));    //
  EXPECT_TRUE(refused(with(0, 0.5F)));  //
  EXPECT_TRUE(refused(with(0, 0)));     // a weight without physics
  EXPECT_TRUE(refused(with(2, 1.5F)));  // the weight is no share
  EXPECT_TRUE(refused(with(4, 1e9F)));  // so many trees
  EXPECT_TRUE(refused(with(4, -2)));    //
  EXPECT_TRUE(refused(with(4, 3)));     // trees of 5, 1 and 0 nodes
  EXPECT_TRUE(refused(with(5, 1e7F)));  // so many nodes
  EXPECT_TRUE(refused(with(5, 3)));     // fewer nodes than inner nodes lead to
  EXPECT_TRUE(refused(with(7, -2)));    // neither a feature nor a leaf
  EXPECT_TRUE(refused(with(7, 3)));     // a feature that is not there
  EXPECT_TRUE(refused(with(7, 1.5F)));  //
  EXPECT_TRUE(refused(with(11, 0)));    // a leaf becomes an inner node without children
}

}  // namespace
}  // namespace foretrain::learn
