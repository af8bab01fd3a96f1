// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/cholesky.h"

#include <gtest/gtest.h>

#include <cmath>

namespace foretrain {
namespace {

// A = [4 2; 2 5]: L = [2 0; 1 2], det = 16. A x = (8, 9): from 4x + 2y = 8 and 2x + 5y = 9 follows
// 8y = 10, y = 1.25, x = 1.375. L x = (8, 9): x = 4, (9 - 4) / 2 = 2.5.
TEST(Cholesky, SolvesWhatIsSolvedByHand) {
  const auto factor = Cholesky::of({4, 99, 2, 5}, 2);  // above the diagonal nothing is read
  ASSERT_TRUE(factor);
  const std::vector<double> b{8, 9};
  EXPECT_NEAR(factor->solve(b)[0], 1.375, 1e-14);
  EXPECT_NEAR(factor->solve(b)[1], 1.25, 1e-14);
  EXPECT_NEAR(factor->half(b)[1], 2.5, 1e-14);
  EXPECT_NEAR(factor->log_determinant(), std::log(16.0), 1e-14);
}

TEST(Cholesky, RefusesWhatIsNotPositiveDefinite) {
  EXPECT_FALSE(Cholesky::of({1, 2, 2, 4}, 2));  // rank 1
  EXPECT_FALSE(Cholesky::of({1, 2, 2, 1}, 2));
  EXPECT_FALSE(Cholesky::of({0}, 1));
  EXPECT_TRUE(Cholesky::of({}, 0));
}

}  // namespace
}  // namespace foretrain
