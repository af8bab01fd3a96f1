// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/simulate_chart.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "foretrain/cli/humanise.h"

namespace foretrain::cli {

void ChartData::advance(Seconds now) {
  while (now > width_ * kStretches) {  // twice as wide, two become one
    for (std::size_t i = 0; i < kStretches / 2; ++i) {
      stretches_[i] = {stretches_[2 * i].device_seconds + stretches_[2 * i + 1].device_seconds,
                       stretches_[2 * i].waiting_seconds + stretches_[2 * i + 1].waiting_seconds};
    }
    std::fill(stretches_.begin() + kStretches / 2, stretches_.end(), Stretch{});
    width_ *= 2;
  }
  while (now_ < now) {
    const auto index = std::min(static_cast<std::size_t>(now_ / width_), kStretches - 1);
    const Seconds edge = width_ * static_cast<double>(index + 1);
    const Seconds until = edge > now_ ? std::min(now, edge) : now;
    const double seconds = (until - now_).count();
    stretches_[index].device_seconds += held_ * seconds;
    stretches_[index].waiting_seconds += waiting_ * seconds;
    now_ = until;
  }
}

void ChartData::add(sched::Happening what, Seconds now, const sched::Active* active) {
  advance(now);
  if (active == nullptr) return;
  const double devices = active->job.devices;
  switch (what) {
    case sched::Happening::Submit:
      waiting_ += 1;
      break;
    case sched::Happening::Start:
      waiting_ -= 1;
      held_ += devices;
      break;
    case sched::Happening::Stop:
    case sched::Happening::Fail:
      waiting_ += 1;
      held_ -= devices;
      break;
    case sched::Happening::End:
      held_ -= devices;
      break;
    case sched::Happening::NodeDown:
    case sched::Happening::NodeUp:
      break;
  }
  draw(what, now, *active);
}

void ChartData::draw(sched::Happening what, Seconds now, const sched::Active& active) {
  const std::int64_t id = active.job.id;
  if (what == sched::Happening::Submit) {
    if (rows_.size() == kMostJobs) return;
    open_[id] = {static_cast<int>(rows_.size()), now, false};
    rows_.push_back({active.job.name, active.job.devices});
    return;
  }
  const auto open = open_.find(id);
  if (open == open_.end()) return;
  Open& job = open->second;
  if (now > job.since && bars_.size() < kMostBars) {
    bars_.push_back({job.row, job.since, now, job.running});
  }
  job.since = now;
  job.running = what == sched::Happening::Start;
  if (what == sched::Happening::End) open_.erase(open);
}

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

struct Curves {
  std::vector<double> held;
  std::vector<double> waiting;
  double most_waiting = 0;
};

Curves curves_of(const ChartData& data) {
  Curves curves;
  const double width = data.width().count();
  const auto shown = static_cast<std::size_t>(data.end() / data.width()) + 1;
  for (std::size_t i = 0; i < std::min(shown, ChartData::kStretches); ++i) {
    curves.held.push_back(data.stretches()[i].device_seconds / width);
    curves.waiting.push_back(data.stretches()[i].waiting_seconds / width);
    curves.most_waiting = std::max(curves.most_waiting, curves.waiting.back());
  }
  return curves;
}

std::string gantt(const ChartData& data, double x_per_s, double top) {
  std::string text;
  for (const ChartData::Bar& bar : data.bars()) {
    const ChartData::Row& row = data.rows()[static_cast<std::size_t>(bar.row)];
    const double width = std::max(0.1, (bar.end - bar.begin).count() * x_per_s);
    text += "<rect x=\"" + fixed(kLeft + bar.begin.count() * x_per_s) + "\" y=\"" +
            fixed(top + kRowHeight * bar.row) + "\" width=\"" + fixed(width) + "\" height=\"" +
            fixed(kRowHeight - 1) + "\" fill=\"" + (bar.running ? "#2c6fbb" : "#e0e0e0") +
            "\"><title>" + escape(row.name) + ", devices: " + std::to_string(row.devices) + ", " +
            (bar.running ? "runs " : "waits ") + format_time(bar.end - bar.begin) +
            "</title></rect>\n";
  }
  return text;
}

std::string svg(const ChartData& data, const SimulationReport& report) {
  const Curves curves = curves_of(data);
  const double seconds = data.width().count() * static_cast<double>(curves.held.size());
  const double x_step = kWidth / static_cast<double>(curves.held.size());
  const double second = 30 + kCurve + 30;
  const double third = second + kCurve + 50;
  const double height = third + kRowHeight * static_cast<double>(data.rows().size()) + 30;
  std::string text = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
                     fixed(kLeft + kWidth + 20) + "\" height=\"" + fixed(height) +
                     "\" font-family=\"sans-serif\" font-size=\"12\">\n";
  text +=
      label(kLeft, 20,
            "devices in use, of " + std::to_string(data.devices()) + " (" + report.policy + ")");
  text += label(kLeft - 5, 40, std::to_string(data.devices()), "end");
  text += curve(curves.held, data.devices(), x_step, 30, "#2c6fbb");
  text += label(kLeft, second - 8, "jobs that wait");
  text += label(kLeft - 5, second + 10, format_count(curves.most_waiting), "end");
  text += curve(curves.waiting, curves.most_waiting, x_step, second, "#c0504d");
  text += label(kLeft, second + kCurve + 15, "0");
  text += label(kLeft + kWidth, second + kCurve + 15, format_time(Seconds{seconds}), "end");
  const bool all = report.summary.jobs <= static_cast<std::int64_t>(data.rows().size());
  text += label(kLeft, third - 8,
                std::string(all ? "jobs" : "the first 200 jobs") + ": grey waits, blue runs");
  text += gantt(data, kWidth / seconds, third);
  return text + "</svg>\n";
}

}  // namespace

std::string chart_text(const ChartData& data, const SimulationReport& report,
                       const std::string& path) {
  if (!path.ends_with(".html")) return svg(data, report);
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>" +
         escape(report.policy) + "</title>\n<pre>\n" + escape(simulation_text(report, Screen{})) +
         "</pre>\n" + svg(data, report) + "</html>\n";
}

}  // namespace foretrain::cli
