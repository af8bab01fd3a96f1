// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fleet/chart_svg.h"

#include <gtest/gtest.h>

namespace foretrain::fleet {
namespace {

// 900 pixels for 2 s from 70 on: a job that runs from 1 s to 2 s begins at 70 + 450 and is 450
// wide.
TEST(ChartSvg, DrawsBarsToScale) {
  Chart chart;
  chart.devices = 4;
  chart.devices_in_use = {0, 4};
  chart.jobs_waiting = {1, 0};
  chart.most_waiting = 1;
  chart.rows = {{"a <b>\n", 4}};
  chart.bars = {{0, Seconds{1}, Seconds{2}, true}};
  const std::string svg = chart_svg(chart, "fifo");
  EXPECT_NE(svg.find("<rect x=\"520.0\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("width=\"450.0\""), std::string::npos);
  EXPECT_NE(svg.find("a &lt;b&gt;\\n, devices: 4, runs 1.000 s"), std::string::npos) << svg;
  EXPECT_NE(svg.find("devices in use, of 4 (fifo)"), std::string::npos);
  EXPECT_NE(svg.find(">jobs: grey"), std::string::npos);
  chart.all_jobs = false;
  EXPECT_NE(chart_svg(chart, "fifo").find("the first 1 jobs: grey"), std::string::npos);
}

}  // namespace
}  // namespace foretrain::fleet
