// SPDX-License-Identifier: Apache-2.0
#include "foretrain/memory/detail/free_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace foretrain::memory {
namespace {

using Free = FreeList::Free;

TEST(FreeList, FindsTheSmallestThatIsLargeEnough) {
  FreeList list;
  EXPECT_EQ(list.best_fit(1), list.size());
  list.insert({30, 0, 3});
  list.insert({10, 100, 1});
  list.insert({20, 200, 2});
  EXPECT_EQ(list.block_at(list.best_fit(10)), 1);
  EXPECT_EQ(list.block_at(list.best_fit(11)), 2);
  EXPECT_EQ(list.best_fit(31), list.size());
}

TEST(FreeList, PrefersTheLowestAddressAmongEquals) {
  FreeList list;
  list.insert({10, 200, 2});
  list.insert({10, 100, 1});
  list.insert({10, 300, 3});
  EXPECT_EQ(list.block_at(list.best_fit(5)), 1);
  EXPECT_EQ(list.block_at(list.position({10, 300, 3})), 3);
}

// Against a sorted array that is sorted anew after every change; long enough for many strides.
TEST(FreeList, StaysSortedWhateverChanges) {
  std::mt19937_64 random(7);
  FreeList list;
  std::vector<Free> expected;
  const auto sort = [&] {
    std::sort(expected.begin(), expected.end(), [](const Free& a, const Free& b) {
      return a.bytes != b.bytes ? a.bytes < b.bytes : a.address < b.address;
    });
  };
  for (int i = 0; i < 3000; ++i) {
    const Free entry{random() % 100, static_cast<std::uint64_t>(i), i};
    const std::uint64_t what = random() % 3;
    if (what == 0 || expected.size() < 50) {
      list.insert(entry);
      expected.push_back(entry);
    } else {
      const std::size_t k = random() % expected.size();
      ASSERT_EQ(list.position(expected[k]), k);
      if (what == 1) {
        list.erase(k);
        expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(k));
      } else {
        list.change(k, entry);
        expected[k] = entry;
      }
    }
    sort();
    ASSERT_EQ(list.size(), expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
      ASSERT_EQ(list.block_at(k), expected[k].block);
    }
  }
}

}  // namespace
}  // namespace foretrain::memory
