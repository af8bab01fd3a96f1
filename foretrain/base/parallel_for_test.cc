// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/parallel_for.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace foretrain {
namespace {

TEST(ParallelFor, CallsEachNumberOnce) {
  for (const int threads : {0, 1, 3, 50}) {
    std::vector<int> calls(20);
    parallel_for(calls.size(), threads, [&](std::size_t i) { ++calls[i]; });
    EXPECT_EQ(calls, std::vector<int>(20, 1)) << threads;
  }
  parallel_for(0, 4, [](std::size_t) { FAIL(); });
}

TEST(ParallelFor, OneThreadIsTheCallersInOrder) {
  std::vector<std::size_t> order;
  const std::thread::id caller = std::this_thread::get_id();
  parallel_for(5, 1, [&](std::size_t i) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    order.push_back(i);
  });
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

// 3 and 4 throw; with 4 threads either may throw first, and 3 is told.
TEST(ParallelFor, TheLowestFailureIsThrownAndEndsTheWork) {
  for (const int threads : {1, 4}) {
    std::atomic<int> calls{0};
    try {
      parallel_for(100'000, threads, [&](std::size_t i) {
        ++calls;
        if (i == 3 || i == 4) throw std::runtime_error(std::to_string(i));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "3");
    }
    if (threads == 1) {
      EXPECT_EQ(calls, 4);
    }
  }
}

}  // namespace
}  // namespace foretrain
