// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fleet/chart_svg.h"

#include <algorithm>

#include "foretrain/base/escape_xml.h"
#include "foretrain/base/humanise.h"
#include "foretrain/base/near.h"
#include "foretrain/base/svg.h"

namespace foretrain::fleet {
namespace {

constexpr double kLeft = 70;
constexpr double kWidth = 900;
constexpr double kCurve = 140;  // height of a curve
constexpr double kRowHeight = 6;

// A filled step curve of one value per stretch, scaled to `most`.
std::string curve(const std::vector<double>& values, double most, double x_step, double top,
                  const char* colour) {
  std::string path = "<path fill=\"" + std::string(colour) + "\" d=\"M" + svg_number(kLeft) + " " +
                     svg_number(top + kCurve);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double y = top + kCurve * (1 - (most > 0 ? values[i] / most : 0));
    const double x = kLeft + x_step * static_cast<double>(i);
    path += "L" + svg_number(x) + " " + svg_number(y) + "H" + svg_number(x + x_step);
  }
  return path + "V" + svg_number(top + kCurve) + "Z\"/>\n";
}

std::string gantt(const Chart& chart, double x_per_s, double top) {
  std::string text;
  for (const Chart::Bar& bar : chart.bars) {
    const Chart::Row& row = chart.rows[static_cast<std::size_t>(bar.row)];
    const double width = std::max(0.1, (bar.end - bar.begin).count() * x_per_s);
    text += "<rect x=\"" + svg_number(kLeft + bar.begin.count() * x_per_s) + "\" y=\"" +
            svg_number(top + kRowHeight * bar.row) + "\" width=\"" + svg_number(width) +
            "\" height=\"" + svg_number(kRowHeight - 1) + "\" fill=\"" +
            (bar.running ? "#2c6fbb" : "#e0e0e0") + "\"><title>" +
            escape_xml(printable(row.job, std::string::npos)) +
            ", devices: " + std::to_string(row.devices) + ", " +
            (bar.running ? "runs " : "waits ") + format_time(bar.end - bar.begin) +
            "</title></rect>\n";
  }
  return text;
}

}  // namespace

std::string chart_svg(const Chart& chart, const std::string& policy) {
  const double x_step = kWidth / static_cast<double>(chart.devices_in_use.size());
  const double second = 30 + kCurve + 30;
  const double third = second + kCurve + 50;
  const double height = third + kRowHeight * static_cast<double>(chart.rows.size()) + 30;
  std::string text = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
                     svg_number(kLeft + kWidth + 20) + "\" height=\"" + svg_number(height) +
                     "\" font-family=\"sans-serif\" font-size=\"12\">\n";
  text += svg_text(kLeft, 20,
                   "devices in use, of " + std::to_string(chart.devices) + " (" + policy + ")");
  text += svg_text(kLeft - 5, 40, std::to_string(chart.devices), "end");
  text += curve(chart.devices_in_use, chart.devices, x_step, 30, "#2c6fbb");
  text += svg_text(kLeft, second - 8, "jobs that wait");
  text += svg_text(kLeft - 5, second + 10, format_count(chart.most_waiting), "end");
  text += curve(chart.jobs_waiting, chart.most_waiting, x_step, second, "#c0504d");
  text += svg_text(kLeft, second + kCurve + 15, "0");
  text += svg_text(kLeft + kWidth, second + kCurve + 15, format_time(chart.end()), "end");
  const std::string first =
      chart.all_jobs ? "" : "the first " + std::to_string(chart.rows.size()) + " ";
  text += svg_text(kLeft, third - 8, first + "jobs: grey waits, blue runs");
  text += gantt(chart, kWidth / chart.end().count(), third);
  return text + "</svg>\n";
}

}  // namespace foretrain::fleet
