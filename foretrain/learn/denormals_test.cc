// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/denormals.h"

#include <gtest/gtest.h>

#include <limits>
#include <thread>

namespace foretrain::learn {
namespace {

// Half of the smallest normal number, computed when it is asked for.
float half_of_smallest() {
  volatile float smallest = std::numeric_limits<float>::min();
  volatile float half = 0.5F * smallest;
  return half;
}

TEST(FlushDenormals, HoldsInItsScopeAndInThreadsThatStartThere) {
  EXPECT_GT(half_of_smallest(), 0);
  float inside = 0;
  float in_thread = 0;
  {
    const FlushDenormals flush;
    inside = half_of_smallest();
    std::thread([&] { in_thread = half_of_smallest(); }).join();
  }
  EXPECT_EQ(inside, in_thread);
#if defined(__x86_64__)
  EXPECT_EQ(inside, 0);
#endif
  EXPECT_GT(half_of_smallest(), 0);
}

}  // namespace
}  // namespace foretrain::learn
