// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fleet/chart.h"

#include <gtest/gtest.h>

#include "foretrain/base/json.h"

namespace foretrain::fleet {
namespace {

using sched::Happening;

sched::Active job(std::int64_t id, int devices) {
  sched::Active active;
  active.job.id = id;
  active.job.name = "job " + std::to_string(id);
  active.job.devices = devices;
  return active;
}

// Of 4 devices, a holds 2 from 0 to 3; b waits for 1.5 from 1 and holds 1 until 4. Per second:
// 2, 2, 2 + half of 1, 1; waiting 0, 1, 1/2, 0. The last stretch begins where all ends.
TEST(Chart, HasTheMeansOfEachStretch) {
  ChartRecorder recorder(4);
  const sched::Active a = job(0, 2);
  const sched::Active b = job(1, 1);
  recorder.add(Happening::Submit, Seconds{0}, &a);
  recorder.add(Happening::Start, Seconds{0}, &a);
  recorder.add(Happening::Submit, Seconds{1}, &b);
  recorder.add(Happening::NodeDown, Seconds{2}, nullptr);
  recorder.add(Happening::Start, Seconds{2.5}, &b);
  recorder.add(Happening::End, Seconds{3}, &a);
  recorder.add(Happening::End, Seconds{4}, &b);
  const Chart chart = recorder.chart();
  EXPECT_EQ(chart.devices, 4);
  EXPECT_EQ(chart.stretch, Seconds{1});
  EXPECT_EQ(chart.devices_in_use, (std::vector<double>{2, 2, 2.5, 1, 0}));
  EXPECT_EQ(chart.jobs_waiting, (std::vector<double>{0, 1, 0.5, 0, 0}));
  EXPECT_EQ(chart.most_waiting, 1);
  EXPECT_TRUE(chart.all_jobs);
  ASSERT_EQ(chart.bars.size(), 3U);  // b waits, a runs, b runs
  EXPECT_FALSE(chart.bars[0].running);
  EXPECT_EQ(chart.bars[0].end - chart.bars[0].begin, Seconds{1.5});
  EXPECT_EQ(chart.bars[2].row, 1);
  EXPECT_EQ(chart.bars[2].end, Seconds{4});

  const Json json = parse_json(to_json(chart));
  EXPECT_EQ(json["devices_in_use"], Json({2, 2, 2.5, 1, 0}));
  EXPECT_EQ(json["rows"][1], Json({{"job", "job 1"}, {"devices", 1}}));
  EXPECT_EQ(json["bars"][1],
            Json({{"row", 0}, {"begin_s", 0.0}, {"end_s", 3.0}, {"running", true}}));
}

// Beyond 512 s stretches double: 4,096 s need 8 s each, and hold what they held.
TEST(Chart, LongSimulationsKeepTheirDeviceSeconds) {
  ChartRecorder recorder(1);
  const sched::Active a = job(0, 1);
  recorder.add(Happening::Submit, Seconds{0}, &a);
  recorder.add(Happening::Start, Seconds{100}, &a);
  recorder.add(Happening::End, Seconds{4096}, &a);
  const Chart chart = recorder.chart();
  EXPECT_EQ(chart.stretch, Seconds{8});
  double device_seconds = 0;
  for (const double devices : chart.devices_in_use) device_seconds += 8 * devices;
  EXPECT_DOUBLE_EQ(device_seconds, 3996);
}

TEST(Chart, ShowsTheFirstJobsOnly) {
  ChartRecorder recorder(1);
  for (int i = 0; i <= 200; ++i) {
    EXPECT_TRUE(recorder.chart().all_jobs);
    const sched::Active a = job(i, 1);
    recorder.add(Happening::Submit, Seconds{0}, &a);
  }
  EXPECT_EQ(recorder.chart().rows.size(), 200U);
  EXPECT_FALSE(recorder.chart().all_jobs);
}

}  // namespace
}  // namespace foretrain::fleet
