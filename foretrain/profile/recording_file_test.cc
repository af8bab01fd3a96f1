// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/recording_file.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "foretrain/base/error.h"

// Of the address sanitizer, where it is there.
extern "C" std::size_t __sanitizer_get_current_allocated_bytes()  // NOLINT: its name
    __attribute__((weak));

namespace foretrain::profile {
namespace {

std::size_t allocated_bytes() {
  if (__sanitizer_get_current_allocated_bytes != nullptr) {
    return __sanitizer_get_current_allocated_bytes();
  }
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

Recording read(const std::string& text, const ReadOptions& options = {}) {
  std::istringstream in(text);
  return read_recording(in, "file x", options);
}

std::string message_of(const std::string& text) {
  try {
    read(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

const std::vector<double>& samples(const Recording& recording, const char* name) {
  return find_column(recording, name)->samples;
}

TEST(ReadRecording, RefusesAFileWithoutANumber) {
  for (const char* text :
       {"time_s,gpu_util\n0,\n0.1,\n0.2,\n", "time_s,gpu_util\n0,nan\n1,nan\n"}) {
    EXPECT_NE(message_of(text), "") << text;
  }
  EXPECT_EQ(message_of("time_s,gpu_util\n0,\n0.1,5\n0.2,\n"), "");
}

TEST(RecordingFile, OurOwnFormatComesBack) {
  const std::string text = "time_s,gpu_util,net_tx\n0,97.5,1000\n0.01,,2000\n0.02,3,0\n";
  const Recording recording = read(text);
  EXPECT_EQ(recording.window, Seconds{0.01});
  EXPECT_EQ(find_column(recording, "net_tx")->unit, "B/s");
  EXPECT_TRUE(std::isnan(samples(recording, "gpu_util")[1]));
  EXPECT_EQ(recording_csv(recording), text);
}

// The usual distance is 10 ms; the row at 30 ms is missing.
TEST(RecordingFile, AMissingRowIsUnknown) {
  const Recording recording = read("time_s,gpu_util\n5.00,1\n5.01,2\n5.02,3\n5.04,4\n");
  ASSERT_EQ(length_of(recording), 5U);
  EXPECT_TRUE(std::isnan(samples(recording, "gpu_util")[3]));
  EXPECT_EQ(samples(recording, "gpu_util")[4], 4);
}

TEST(RecordingFile, OneRowIsARecording) {
  EXPECT_EQ(length_of(read("time_s,gpu_util\n7,50\n")), 1U);
}

// GPU 1 is busier. MiB become bytes: 2 MiB are 2097152.
TEST(RecordingFile, ReadsNvidiaSmi) {
  const Recording recording = read(
      "timestamp, index, utilization.gpu [%], memory.used [MiB], power.draw [W]\n"
      "2026/11/16 23:59:59.500, 0, 1 %, 1 MiB, 10.00 W\n"
      "2026/11/16 23:59:59.500, 1, 90 %, 2 MiB, 20.00 W\n"
      "2026/11/17 00:00:00.000, 0, 1 %, 1 MiB, [N/A]\n"
      "2026/11/17 00:00:00.000, 1, 80 %, 2 MiB, [N/A]\n");
  EXPECT_EQ(recording.window, Seconds{0.5});
  EXPECT_EQ(samples(recording, "gpu_util"), (std::vector<double>{90, 80}));
  EXPECT_EQ(samples(recording, "memory_used")[0], 2097152);
  EXPECT_TRUE(std::isnan(samples(recording, "power")[1]));
  EXPECT_EQ(recording.notes.size(), 1U);
}

TEST(RecordingFile, ReadsDmonWithAndWithoutTimes) {
  const Recording timed = read(
      "#Time        gpu    pwr     sm    mem\n"
      "#HH:MM:SS    Idx      W      %      %\n"
      " 23:59:58      0     43     10      5\n"
      " 00:00:00      0     43     20      -\n"
      " 00:00:02      0     43     30      7\n");
  EXPECT_EQ(timed.window, Seconds{2});
  EXPECT_EQ(samples(timed, "gpu_util"), (std::vector<double>{10, 20, 30}));
  EXPECT_TRUE(std::isnan(samples(timed, "gpu_memory_util")[1]));
  const Recording plain = read(
      "# gpu     sm    mem     fb\n# Idx      %      %     MB\n    0     1      2     4\n"
      "    0     3      2     4\n",
      {.interval = Seconds{0.25}});
  EXPECT_EQ(plain.window, Seconds{0.25});
  EXPECT_EQ(samples(plain, "memory_used")[0], 4 * 1024 * 1024);
}

// GRACT and DRAMA are shares of one.
TEST(RecordingFile, ReadsDcgm) {
  const Recording recording = read(
      "#Entity   GRACT        DRAMA        POWER\nID\nGPU 0     0.500        0.250        120.5\n"
      "GPU 0     1.000        N/A          121\n");
  EXPECT_EQ(samples(recording, "gpu_util"), (std::vector<double>{50, 100}));
  EXPECT_EQ(samples(recording, "gpu_memory_util")[0], 25);
  EXPECT_EQ(samples(recording, "power")[1], 121);
}

// Two interfaces add up, lo does not count; a kilobyte of sar is 1024 bytes.
TEST(RecordingFile, ReadsSar) {
  const Recording recording = read(
      "Linux 6.1.0 (host) \t11/16/26 \t_x86_64_\t(2 CPU)\n\n"
      "11:59:58 AM     IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   %ifutil\n"
      "11:59:59 AM        lo      9.00      9.00     99.00     99.00      0.00\n"
      "11:59:59 AM      eth0      1.00      1.00      1.00      2.00      0.00\n"
      "11:59:59 AM      eth1      1.00      1.00      3.00      4.00      0.00\n\n"
      "12:00:00 PM      eth0      1.00      1.00      5.00      0.00      0.00\n"
      "12:00:00 PM      eth1      1.00      1.00      0.00      0.00      0.00\n"
      "Average:         eth0      1.00      1.00      5.00      0.00      0.00\n");
  EXPECT_EQ(recording.window, Seconds{1});
  EXPECT_EQ(samples(recording, "net_rx"), (std::vector<double>{4096, 5120}));
  EXPECT_EQ(samples(recording, "net_tx"), (std::vector<double>{6144, 0}));
}

TEST(RecordingFile, RefusesAnInterfaceThatIsNotThere) {
  const std::string text = "12:00:01 IFACE rxpck/s txpck/s rxkB/s txkB/s\n12:00:02 eth0 1 1 5 5\n";
  EXPECT_EQ(samples(read(text, {.interfaces = {"eth0"}}), "net_rx").size(), 1U);
  EXPECT_THROW(read(text, {.interfaces = {"eth9"}}), Error);
}

TEST(RecordingFile, ErrorsNameTheLine) {
  EXPECT_EQ(message_of("time_s,gpu_util\n0,1\n1,x\n"),
            "file x, line 3: 'x' is no number that a recording can hold");
  EXPECT_EQ(message_of("time_s,gpu_util\n0,1\n1\n"),
            "file x, line 3: 1 fields where the first line has 2");
  EXPECT_EQ(message_of("time_s,gpu_util\n2,1\n1,1\n"), "file x, line 3: time runs backwards");
  EXPECT_EQ(message_of("time_s,a,a\n"), "file x, line 1: column 'a' is there twice");
  EXPECT_NE(message_of("hello\n"), "");
  EXPECT_NE(message_of(""), "");
  EXPECT_NE(message_of("time_s,gpu_util\n0,1\n1e-9,1\n2e-9,1\n1e9,1\n"), "");
}

// A line of titles (16 bytes) and 20,000 of 8 bytes are three pieces of at most 64 KiB.
TEST(RecordingFile, TellsHowMuchWasRead) {
  std::string text = "time_s,gpu_util\n";
  for (int i = 0; i < 20'000; ++i) text += std::to_string(10'000 + i) + ",5\n";
  std::vector<std::size_t> told;
  ReadOptions options;
  options.on_read = [&](std::size_t bytes) { told.push_back(bytes); };
  EXPECT_EQ(length_of(read(text, options)), 20'000U);
  EXPECT_EQ(told,
            (std::vector<std::size_t>{65'536, 131'072, 160'016, 160'016}));  // the end as well
}

// A row of one resource is 18 bytes, of which vectors reserve twice as many; the text is not kept.
TEST(RecordingFile, MemoryIsInProportionToItsNumbers) {
  constexpr int kRows = 100'000;
  std::string text = "time_s,gpu_util\n";
  for (int i = 0; i < kRows; ++i) text += std::to_string(100'000 + i) + ",5\n";
  std::istringstream in(text);
  const std::size_t before = allocated_bytes();
  ASSERT_GT(before, text.size());
  std::size_t most = 0;
  const ReadOptions options{
      .on_read = [&](std::size_t) { most = std::max(most, allocated_bytes()); }};
  read_recording(in, "file x", options);
  EXPECT_LT(most - before, 45U * kRows);
}

}  // namespace
}  // namespace foretrain::profile
