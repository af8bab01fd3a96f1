// SPDX-License-Identifier: Apache-2.0
#include "foretrain/inspector/replay_constants.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/inspector/replay.h"

namespace foretrain::inspector {
namespace {

TEST(ReplayConstants, AreWrittenAsTheyAreRead) {
  ReplayConstants constants = replay_constants();
  constants.activity.noise = 0.125;
  const std::vector<std::string> notes{"by hand"};
  ReplayConstants again = read_replay_constants(write_replay_constants(constants, notes), "file");
  const auto places = named_numbers(again);
  const auto expected = named_numbers(constants);
  ASSERT_EQ(places.size(), expected.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(*places[i].value, *expected[i].value) << places[i].name;
  }
  EXPECT_EQ(again.activity.noise, 0.125);
}

TEST(ReplayConstants, AreWhatAReplayAssumes) {
  EXPECT_EQ(replay_options().gap.count(), replay_constants().steps.gap_s);
  EXPECT_EQ(replay_options().jitter, replay_constants().steps.jitter);
  EXPECT_EQ(replay_options().operators, replay_constants().activity.operators);
  EXPECT_EQ(replay_options().noise, replay_constants().activity.noise);
}

TEST(ReplayConstants, OneThatIsMissingIsNamed) {
  const char* const text = R"({"format": "foretrain-replay", "version": 1, "notes": [],
                               "steps": {"gap_s": 0.01}})";
  EXPECT_THROW(read_replay_constants(text, "file"), Error);
}

}  // namespace
}  // namespace foretrain::inspector
