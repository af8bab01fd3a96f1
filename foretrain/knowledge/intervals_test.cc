// SPDX-License-Identifier: Apache-2.0
#include "foretrain/knowledge/intervals.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"

namespace foretrain {
namespace {

Regime regime(const std::string& bound, const std::string& length) {
  Regime made;
  word(made, Trait::Bound) = bound;
  word(made, Trait::Length) = length;
  return made;
}

Intervals some_intervals() {
  Intervals intervals;
  intervals.traits = {Trait::Bound, Trait::Length};
  intervals.lengths = {0.01, 0.03, 0.1, "chosen"};
  intervals.distance.family = 4;
  intervals.cells[""] = {-0.5, 1, 100, 5};
  intervals.cells["host"] = {-0.3, 0.8, 40, 3};
  intervals.cells["host/tiny"] = {-0.2, 0.9, 20, 2};
  intervals.measured.push_back({"resnet50", "cnn", "v100-sxm2", "volta", "fp32", "train",
                                "pytorch-1", "gavel", 1, 8, 16, 128});
  return intervals;
}

TEST(Intervals, TheFinestRegimeThatWasMeasuredDecides) {
  const Intervals intervals = some_intervals();
  EXPECT_EQ(find_cell(intervals, regime("host", "tiny"))->high, 0.9);
  EXPECT_EQ(find_cell(intervals, regime("host", "long"))->high, 0.8);
  EXPECT_EQ(find_cell(intervals, regime("memory", "tiny"))->high, 1);
  EXPECT_EQ(find_cell(Intervals{}, regime("host", "tiny")), nullptr);
}

TEST(Intervals, ReadAsWritten) {
  const Intervals intervals = some_intervals();
  const std::string text = write_intervals(intervals, {});
  const Intervals read = read_intervals(text, "test");
  EXPECT_EQ(read.traits, intervals.traits);
  EXPECT_EQ(read.cells.at("host/tiny").low, -0.2);
  EXPECT_EQ(read.cells.at("").rows, 100u);
  EXPECT_EQ(read.lengths.short_s, 0.03);
  EXPECT_EQ(read.lengths.source, "chosen");
  EXPECT_EQ(read.distance.family, 4);
  EXPECT_EQ(read.measured.front().most_batch, 128);
  EXPECT_EQ(write_intervals(read, {}), text);
}

TEST(Intervals, RefusesWhatNoFitWrites) {
  const auto refused = [](const std::string& cell) {
    const std::string text = R"({"format": "foretrain-intervals", "version": 1, "confidence": 0.9,
                                 "traits": [], "measured": [],
                                 "lengths": {"tiny_s": 1, "short_s": 2, "medium_s": 3,
                                             "source": ""},
                                 "distance": {"family": 4, "model": 1, "architecture": 1,
                                              "device": 1, "precision": 1, "mode": 2,
                                              "framework": 0.5, "workers": 0.3, "batch": 0.1,
                                              "source": ""},
                                 "cells": [)" +
                             cell + "]}";
    try {
      read_intervals(text, "test");
      return false;
    } catch (const Error& error) {
      return error.kind() == ErrorKind::BadInput;
    }
  };
  EXPECT_FALSE(refused(R"({"regime": "", "low": -1, "high": 1, "rows": 9, "sources": 2})"));
  EXPECT_TRUE(refused(R"({"regime": "", "low": 1, "high": -1, "rows": 9, "sources": 2})"));
  EXPECT_TRUE(refused(R"({"regime": "", "low": -99, "high": 1, "rows": 9, "sources": 2})"));
  EXPECT_TRUE(refused(R"({"regime": "", "low": -1, "high": 1, "rows": -9, "sources": 2})"));
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
