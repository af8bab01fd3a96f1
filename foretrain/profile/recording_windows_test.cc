// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/detail/recording_windows.h"

#include <gtest/gtest.h>

#include <array>

#include "foretrain/base/error.h"

namespace foretrain::profile {
namespace {

// Two rows of each device, one second apart.
RecordingRows two_devices(std::vector<std::string> names, std::vector<double> first,
                          std::vector<double> second) {
  RecordingRows rows{.names = std::move(names)};
  for (const double time_s : {0.0, 1.0}) {
    add_row(find_instance("0", "x", rows), time_s, first, "x", rows);
    add_row(find_instance("GPU 1", "x", rows), time_s, second, "x", rows);
  }
  return rows;
}

std::string refusal(const RecordingRows& rows, const ReadOptions& options = {}) {
  try {
    into_windows(rows, "x", options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// Device 0 holds more memory and takes more power; device 1 computes.
TEST(IntoWindows, TheBusiestIsTheOneThatComputes) {
  const RecordingRows rows =
      two_devices({"memory_used", "power", "gpu_util"}, {9, 90, 1}, {1, 10, 95});
  const Recording recording = into_windows(rows, "x", {});
  EXPECT_EQ(find_column(recording, "gpu_util")->samples, (std::vector<double>{95, 95}));
  EXPECT_EQ(recording.notes,
            std::vector<std::string>{"the busiest of several devices is shown: GPU 1"});
}

TEST(IntoWindows, WithoutUtilisationPowerTellsTheBusiest) {
  const Recording recording =
      into_windows(two_devices({"memory_used", "power"}, {9, 10}, {1, 90}), "x", {});
  EXPECT_EQ(find_column(recording, "power")->samples, (std::vector<double>{90, 90}));
}

TEST(IntoWindows, TakesTheDeviceThatIsAskedFor) {
  const RecordingRows rows = two_devices({"gpu_util"}, {10}, {95});
  const Recording recording = into_windows(rows, "x", {.gpu = 0});
  EXPECT_EQ(recording.columns[0].samples, (std::vector<double>{10, 10}));
  EXPECT_TRUE(recording.notes.empty());
  EXPECT_EQ(into_windows(rows, "x", {.gpu = 1}).columns[0].samples[0], 95);
  EXPECT_EQ(refusal(rows, {.gpu = 2}), "x: has no GPU 2, but 0, GPU 1");
  RecordingRows one{.names = {"gpu_util"}};
  add_row(find_instance("", "x", one), 0, std::array{1.0}, "x", one);
  EXPECT_EQ(refusal(one, {.gpu = 0}), "x: does not tell GPUs apart; leave out the index");
}

TEST(IntoWindows, NeedsAColumn) {
  EXPECT_EQ(refusal({}), "x: none of its columns is known; docs/profile.md lists what is read");
}

// 20,000 rows 1 ms apart and one far away: 4 million windows are 32 MB and may be; 5 million are
// 250 per row.
TEST(IntoWindows, TheirNumberIsInProportionToTheRows) {
  RecordingRows rows{.names = {"gpu_util"}};
  const std::size_t device = find_instance("", "x", rows);
  for (int i = 0; i < 20'000; ++i) add_row(device, 0.001 * i, std::array{1.0}, "x", rows);
  RecordingRows far = rows;
  add_row(device, 3999, std::array{2.0}, "x", rows);
  add_row(device, 5000, std::array{2.0}, "x", far);
  const Recording recording = into_windows(rows, "x", {});
  EXPECT_EQ(length_of(recording), 3'999'001U);
  EXPECT_EQ(recording.columns[0].samples.back(), 2);
  EXPECT_EQ(refusal(far), "x: covers too long a time for the usual distance of its rows");
}

}  // namespace
}  // namespace foretrain::profile
