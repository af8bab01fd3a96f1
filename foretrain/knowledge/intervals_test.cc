// SPDX-License-Identifier: Apache-2.0
#include "foretrain/knowledge/intervals.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"

namespace foretrain {
namespace {

Intervals some_intervals() {
  Intervals intervals;
  intervals.lengths = {0.01, 0.03, 0.1, "chosen"};
  intervals.distance.family = 4;
  intervals.spread = {{-1, 0.25}, {{Trait::Family, {{"cnn", {0.5, 0}}}}}, {0.75, 0}, {0, -0.5}};
  intervals.measured.push_back({"resnet50", "cnn", "v100-sxm2", "volta", "fp32", "train",
                                "pytorch-1", "gavel", 1, 8, 16, 128});
  return intervals;
}

TEST(Intervals, ReadAsWritten) {
  const Intervals intervals = some_intervals();
  const std::string text = write_intervals(intervals, {});
  const Intervals read = read_intervals(text, "test");
  EXPECT_EQ(read.spread.base.skew, 0.25);
  EXPECT_EQ(read.spread.words.at(Trait::Family).at("cnn").width, 0.5);
  EXPECT_EQ(read.spread.communication.width, 0.75);
  EXPECT_EQ(read.spread.host.skew, -0.5);
  EXPECT_EQ(read.lengths.short_s, 0.03);
  EXPECT_EQ(read.lengths.source, "chosen");
  EXPECT_EQ(read.distance.family, 4);
  EXPECT_EQ(read.measured.front().most_batch, 128);
  EXPECT_EQ(write_intervals(read, {}), text);
}

TEST(Intervals, RefusesWhatNoFitWrites) {
  const auto refused = [](const std::string& effect) {
    const std::string text = R"({"format": "foretrain-intervals", "version": 2, "confidence": 0.9,
                                 "measured": [],
                                 "lengths": {"tiny_s": 1, "short_s": 2, "medium_s": 3,
                                             "source": ""},
                                 "distance": {"family": 4, "model": 1, "architecture": 1,
                                              "device": 1, "precision": 1, "mode": 2,
                                              "framework": 0.5, "workers": 0.3, "batch": 0.1,
                                              "source": ""},
                                 "effects": [)" +
                             effect + "]}";
    try {
      read_intervals(text, "test");
      return false;
    } catch (const Error& error) {
      return error.kind() == ErrorKind::BadInput;
    }
  };
  EXPECT_FALSE(refused(R"({"of": "base", "width": -1, "skew": 0})"));
  EXPECT_FALSE(refused(R"({"of": "family", "word": "cnn", "width": -1, "skew": 0})"));
  EXPECT_TRUE(refused(R"({"of": "base", "width": -99, "skew": 0})"));
  EXPECT_TRUE(refused(R"({"of": "base", "width": "wide", "skew": 0})"));
  EXPECT_TRUE(refused(R"({"of": "base", "width": 1})"));
  EXPECT_TRUE(refused(R"({"of": "family", "width": 1, "skew": 0})"));
  EXPECT_TRUE(refused(R"({"of": "colour", "word": "red", "width": 1, "skew": 0})"));
  EXPECT_TRUE(refused(R"(["base", 1, 0])"));
  EXPECT_THROW(read_intervals(R"({"format": "other", "version": 1})", "test"), Error);
}

TEST(Intervals, AChipIsADeviceWithoutTheSizeOfItsMemory) {
  EXPECT_EQ(chip_named("v100-sxm2-16gb"), "v100-sxm2");
  EXPECT_EQ(chip_named("rtx-2080-ti"), "rtx-2080-ti");
  EXPECT_EQ(chip_named("t4"), "t4");
  EXPECT_TRUE(is_measured(some_intervals(), chip_named("v100-sxm2-32gb")));
  EXPECT_FALSE(is_measured(some_intervals(), "t4"));
}

}  // namespace
}  // namespace foretrain
