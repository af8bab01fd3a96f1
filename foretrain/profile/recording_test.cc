// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/recording.h"

#include <gtest/gtest.h>

namespace foretrain::profile {
namespace {

// Windows of 0.5 s from 10 s on: [10, 10.5), [10.5, 11), [11, 11.5), [11.5, 12).
const Recording kRecording{.name = "w",
                           .start = Seconds{10},
                           .window = Seconds{0.5},
                           .columns = {{"gpu_util", "%", {1, 2, 3, 4}}}};

TEST(Cut, KeepsWholeWindows) {
  const Recording part = cut(kRecording, Seconds{10.3}, Seconds{11.7});
  EXPECT_EQ(part.start, Seconds{10.5});
  EXPECT_EQ(part.columns[0].samples, (std::vector<double>{2, 3}));
}

TEST(Cut, EdgesOfWindowsCount) {
  EXPECT_EQ(length_of(cut(kRecording, Seconds{10.5}, Seconds{11.5})), 2U);
  EXPECT_EQ(length_of(cut(kRecording, Seconds{0}, Seconds{99})), 4U);
  EXPECT_EQ(length_of(cut(kRecording, Seconds{11.9}, Seconds{11})), 0U);
}

TEST(FindColumn, IsNullWhereThereIsNone) {
  ASSERT_NE(find_column(kRecording, "gpu_util"), nullptr);
  EXPECT_EQ(find_column(kRecording, "net_tx"), nullptr);
}

}  // namespace
}  // namespace foretrain::profile
