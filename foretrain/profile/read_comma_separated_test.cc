// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <sstream>

#include "foretrain/base/error.h"
#include "foretrain/profile/detail/recording_readers.h"

namespace foretrain::profile {
namespace {

using Reader = RecordingRows (*)(std::istream&, const std::string&);

RecordingRows read(Reader reader, const std::string& text) {
  std::istringstream in(text);
  return reader(in, "x");
}

std::string refusal(Reader reader, const std::string& text) {
  try {
    read(reader, text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ReadOwn, TitlesMayHaveBlanksAround) {
  const RecordingRows rows = read(read_own, "gpu_util , time_s,\tpower\n10, 5,20\n");
  EXPECT_EQ(rows.names, (std::vector<std::string>{"gpu_util", "power"}));
  EXPECT_EQ(rows.time_s, std::vector<double>{5});
  EXPECT_EQ(rows.values[1], std::vector<double>{20});
}

TEST(ReadOwn, NeedsOneColumnOfTimesAndNames) {
  EXPECT_EQ(refusal(read_own, "step_time_s,gpu_util\n0,1\n"),
            "x, line 1: no column is called time_s");
  EXPECT_EQ(refusal(read_own, "time_s, time_s,a\n"), "x, line 1: column 'time_s' is there twice");
  EXPECT_EQ(refusal(read_own, "time_s,,gpu_util\n"), "x, line 1: column 2 has no name");
}

TEST(ReadOwn, NamesArePrintable) {
  const RecordingRows rows = read(read_own, "time_s,\x1b[31mred,bad\xff\n0,1,2\n");
  EXPECT_EQ(rows.names, (std::vector<std::string>{"\\x1b[31mred", "bad\\xff"}));
}

const std::string kTimes[2]{"2026/11/16 10:00:00.000", "2026/11/16 10:00:01.000"};

TEST(ReadSmi, KnowsGpusByTheirBus) {
  const RecordingRows rows =
      read(read_smi, "timestamp, pci.bus_id, utilization.gpu [%]\n" + kTimes[0] +
                         ", 00000000:01:00.0, 0 %\n" + kTimes[0] + ", 00000000:02:00.0, 100 %\n");
  ASSERT_EQ(rows.instances.size(), 2U);
  EXPECT_EQ(rows.instances[1].name, "00000000:02:00.0");
  EXPECT_TRUE(rows.notes.empty());
}

TEST(ReadSmi, KnowsGpusBestByTheirIndex) {
  const RecordingRows rows =
      read(read_smi, "timestamp, index, uuid, power.draw [W]\n" + kTimes[0] + ", 3, GPU-a, 9 W\n");
  EXPECT_EQ(rows.instances.at(0).name, "3");
}

// 0 % and 100 % of two GPUs are no GPU at 50 %.
TEST(ReadSmi, RefusesTwoRowsOfOneTimeWithoutAnIndex) {
  const std::string titles = "timestamp, utilization.gpu [%]\n";
  EXPECT_EQ(
      refusal(read_smi, titles + kTimes[0] + ", 0 %\n" + kTimes[0] + ", 100 %\n"),
      "x, line 3: a second row of one time; ask nvidia-smi for index, which tells GPUs apart");
  const RecordingRows one =
      read(read_smi, titles + kTimes[0] + ", 0 %\n" + kTimes[1] + ", 100 %\n");
  EXPECT_EQ(one.notes,
            std::vector<std::string>{"no column index: all rows are taken to be of one GPU"});
}

TEST(ReadSmi, OfOneResourceTwiceTheFirstCounts) {
  const RecordingRows rows = read(
      read_smi, "timestamp, index, power.draw [W], power.draw\n" + kTimes[0] + ", 0, 10 W, 11\n");
  EXPECT_EQ(rows.names, std::vector<std::string>{"power"});
  EXPECT_EQ(rows.values.at(0), std::vector<double>{10});
}

}  // namespace
}  // namespace foretrain::profile
