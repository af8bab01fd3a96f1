// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/simulate_chart.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "foretrain/cli/humanise.h"
#include "foretrain/cli/simulate_text.h"

namespace foretrain::cli {
namespace {

constexpr double kLeft = 70;
constexpr double kWidth = 900;
constexpr double kCurve = 140;  // height of a curve
constexpr double kRowHeight = 6;

std::string fixed(double value) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

std::string escape(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '&') {
      result += "&amp;";
    } else if (c == '"') {
      result += "&quot;";
    } else {
      result += static_cast<unsigned char>(c) < 32 && c != '\n' ? ' ' : c;
    }
  }
  return result;
}

std::string label(double x, double y, const std::string& text, const char* anchor = "start") {
  return "<text x=\"" + fixed(x) + "\" y=\"" + fixed(y) + "\" text-anchor=\"" + anchor + "\">" +
         escape(text) + "</text>\n";
}

// A filled step curve of one value per stretch, scaled to `most`.
std::string curve(const std::vector<double>& values, double most, double x_step, double top,
                  const char* colour) {
  std::string path =
      "<path fill=\"" + std::string(colour) + "\" d=\"M" + fixed(kLeft) + " " + fixed(top + kCurve);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double y = top + kCurve * (1 - (most > 0 ? values[i] / most : 0));
    const double x = kLeft + x_step * static_cast<double>(i);
    path += "L" + fixed(x) + " " + fixed(y) + "H" + fixed(x + x_step);
  }
  return path + "V" + fixed(top + kCurve) + "Z\"/>\n";
}

std::string gantt(const fleet::Chart& chart, double x_per_s, double top) {
  std::string text;
  for (const fleet::Chart::Bar& bar : chart.bars) {
    const fleet::Chart::Row& row = chart.rows[static_cast<std::size_t>(bar.row)];
    const double width = std::max(0.1, (bar.end - bar.begin).count() * x_per_s);
    text += "<rect x=\"" + fixed(kLeft + bar.begin.count() * x_per_s) + "\" y=\"" +
            fixed(top + kRowHeight * bar.row) + "\" width=\"" + fixed(width) + "\" height=\"" +
            fixed(kRowHeight - 1) + "\" fill=\"" + (bar.running ? "#2c6fbb" : "#e0e0e0") +
            "\"><title>" + escape(row.job) + ", devices: " + std::to_string(row.devices) + ", " +
            (bar.running ? "runs " : "waits ") + format_time(bar.end - bar.begin) +
            "</title></rect>\n";
  }
  return text;
}

std::string svg(const fleet::Chart& chart, const fleet::SimulationReport& report) {
  const double x_step = kWidth / static_cast<double>(chart.devices_in_use.size());
  const double second = 30 + kCurve + 30;
  const double third = second + kCurve + 50;
  const double height = third + kRowHeight * static_cast<double>(chart.rows.size()) + 30;
  std::string text = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
                     fixed(kLeft + kWidth + 20) + "\" height=\"" + fixed(height) +
                     "\" font-family=\"sans-serif\" font-size=\"12\">\n";
  text += label(kLeft, 20,
                "devices in use, of " + std::to_string(chart.devices) + " (" + report.policy + ")");
  text += label(kLeft - 5, 40, std::to_string(chart.devices), "end");
  text += curve(chart.devices_in_use, chart.devices, x_step, 30, "#2c6fbb");
  text += label(kLeft, second - 8, "jobs that wait");
  text += label(kLeft - 5, second + 10, format_count(chart.most_waiting), "end");
  text += curve(chart.jobs_waiting, chart.most_waiting, x_step, second, "#c0504d");
  text += label(kLeft, second + kCurve + 15, "0");
  text += label(kLeft + kWidth, second + kCurve + 15, format_time(chart.end()), "end");
  text += label(
      kLeft, third - 8,
      std::string(chart.all_jobs ? "jobs" : "the first 200 jobs") + ": grey waits, blue runs");
  text += gantt(chart, kWidth / chart.end().count(), third);
  return text + "</svg>\n";
}

}  // namespace

std::string chart_text(const fleet::Chart& chart, const fleet::SimulationReport& report,
                       const std::string& path) {
  if (!path.ends_with(".html")) return svg(chart, report);
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>" +
         escape(report.policy) + "</title>\n<pre>\n" + escape(simulation_text(report, Screen{})) +
         "</pre>\n" + svg(chart, report) + "</html>\n";
}

}  // namespace foretrain::cli
