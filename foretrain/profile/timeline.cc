// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/timeline.h"

#include <algorithm>
#include <cmath>

#include "foretrain/base/escape_xml.h"
#include "foretrain/base/format.h"
#include "foretrain/base/near.h"

namespace foretrain::profile {
namespace {

constexpr double kWidth = 1000;  // all in pixels
constexpr double kLeft = 90;
constexpr double kPanel = 110;
constexpr double kGap = 34;
constexpr double kTop = 16;
constexpr std::size_t kMostPoints = 1500;  // per panel; more samples are shown by least and most

std::string escaped(const std::string& text) {
  return escape_xml(printable(text, std::string::npos));
}

// 1234567 B/s as "1.23 MB/s".
std::string amount(double value, const std::string& unit) {
  const bool scaled = unit == "B/s" || unit == "B";
  const char* prefix = "";
  for (const char* next : {"k", "M", "G", "T"}) {
    if (!scaled || std::abs(value) < 1000) break;
    value /= 1000;
    prefix = next;
  }
  return format("%.3g ", value) + prefix + unit;
}

std::string amount(const std::optional<double>& value, const std::string& unit) {
  return value ? amount(*value, unit) : "-";
}

std::string time_text(const std::optional<Seconds>& time) {
  return time ? format("%.4g ms", time->count() * 1e3) : "-";
}

double highest(const RecordingColumn& column) {
  double most = column.unit == "%" ? 100 : 0;
  for (const double sample : column.samples) {
    if (std::isfinite(sample)) most = std::max(most, sample);
  }
  return most > 0 ? most : 1;
}

// Points of the curve; unknown samples leave a gap. Where there are more samples than points, each
// group is drawn by its least and its most.
std::string curve(const RecordingColumn& column, double top, double most) {
  const std::size_t count = column.samples.size();
  const std::size_t group = std::max<std::size_t>(1, (count + kMostPoints - 1) / kMostPoints);
  const auto x = [&](std::size_t i) {
    return kLeft + (kWidth - kLeft) * static_cast<double>(i) / static_cast<double>(count);
  };
  const auto y = [&](double value) { return top + kPanel * (1 - value / most); };
  std::string path;
  bool pen_down = false;
  for (std::size_t i = 0; i < count; i += group) {
    double least_in = INFINITY;
    double most_in = -INFINITY;
    for (std::size_t j = i; j < std::min(count, i + group); ++j) {
      if (!std::isfinite(column.samples[j])) continue;
      least_in = std::min(least_in, column.samples[j]);
      most_in = std::max(most_in, column.samples[j]);
    }
    if (least_in > most_in) {
      pen_down = false;
      continue;
    }
    path += format("%c%.1f %.1f", pen_down ? 'L' : 'M', x(i), y(most_in));
    if (least_in < most_in) path += format("L%.1f %.1f", x(i), y(least_in));
    path += format("H%.1f", x(std::min(count, i + group)));
    pen_down = true;
  }
  return "<path d=\"" + path + "\" fill=\"none\" stroke=\"#1f6feb\" stroke-width=\"1\"/>\n";
}

std::string level(const std::optional<double>& value, double top, double most, const char* colour) {
  if (!value) return "";
  const double y = top + kPanel * (1 - *value / most);
  return format("<path d=\"M%.0f %.1fH%.0f\" stroke=\"%s\" stroke-dasharray=\"6 4\"/>\n", kLeft, y,
                kWidth, colour);
}

std::string panel(const RecordingColumn& column, const ResourceUse& use, double top) {
  const double most = highest(column);
  std::string text =
      format("<rect x=\"%.0f\" y=\"%.1f\" width=\"%.0f\" height=\"%.0f\" fill=\"#f6f8fa\"/>\n",
             kLeft, top, kWidth - kLeft, kPanel);
  text += curve(column, top, most);
  text += level(use.bursts.burst_amount, top, most, "#cf222e");
  text += level(use.bursts.idle_amount, top, most, "#57606a");
  text += format("<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">", kLeft - 6, top + 11) +
          escaped(amount(most, column.unit)) + "</text>\n";
  text +=
      format("<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">0</text>\n", kLeft - 6, top + kPanel);
  text += format("<text x=\"%.0f\" y=\"%.1f\">", kLeft, top + kPanel + 14) + escaped(column.name) +
          ": " + resource::to_string(use.bursts.pattern) + ", bursts " +
          escaped(amount(use.bursts.burst_amount, use.unit)) + " for " +
          time_text(use.bursts.burst) + ", idles " +
          escaped(amount(use.bursts.idle_amount, use.unit)) + " for " + time_text(use.bursts.idle) +
          "</text>\n";
  return text;
}

}  // namespace

std::string timeline_svg(const Recording& recording, const Profile& profile) {
  double top = kTop;
  std::string panels;
  for (const ResourceUse& use : profile.resources) {
    const RecordingColumn* column = find_column(recording, use.name);
    if (column == nullptr) continue;
    panels += panel(*column, use, top);
    top += kPanel + kGap;
  }
  const double height = top + 10;
  return format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
             "font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n",
             kWidth + 10, height) +
         "<title>" + escaped(recording.name) + "</title>\n" + panels +
         format(
             "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%.3f s in windows of %.4g "
             "ms</text>\n",
             kWidth, height - 4, profile.duration.count(), profile.window.count() * 1e3) +
         "</svg>\n";
}

std::string timeline_html(const Recording& recording, const Profile& profile) {
  std::string rows;
  for (const ResourceUse& use : profile.resources) {
    const resource::Bursts& bursts = use.bursts;
    rows += "<tr><th scope=\"row\">" + escaped(use.name) + "</th><td>" +
            resource::to_string(bursts.pattern) + "</td>";
    for (const std::string& cell :
         {amount(use.mean, use.unit), amount(bursts.burst_amount, use.unit),
          amount(bursts.burst_amount_sd, use.unit), amount(bursts.idle_amount, use.unit),
          time_text(bursts.burst), time_text(bursts.burst_sd), time_text(bursts.idle),
          time_text(bursts.idle_sd)}) {
      rows += "<td>" + escaped(cell) + "</td>";
    }
    rows += "</tr>\n";
  }
  std::string notes;
  for (const std::string& note : profile.notes) notes += "<li>" + escaped(note) + "</li>\n";
  const std::string period = profile.period
                                 ? "<p>One iteration takes " + time_text(profile.period) +
                                       " (seen in " + escaped(profile.period_of) + ").</p>\n"
                                 : "";
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" +
         escaped(recording.name) +
         "</title>\n<style>body{font-family:sans-serif;max-width:70rem;margin:2rem auto;padding:0 "
         "1rem}table{border-collapse:collapse}td,th{padding:.2rem "
         ".7rem;text-align:right;border-bottom:"
         "1px solid #d0d7de}</style></head><body>\n<h1>" +
         escaped(recording.name) + "</h1>\n" + period +
         "<table><thead><tr><th></th><th>pattern</th><th>mean</th><th>in bursts</th><th>sd</th>"
         "<th>in idles</th><th>burst lasts</th><th>sd</th><th>idle "
         "lasts</th><th>sd</th></tr></thead>"
         "<tbody>\n" +
         rows + "</tbody></table>\n" + timeline_svg(recording, profile) +
         (notes.empty() ? "" : "<ul>\n" + notes + "</ul>\n") + "</body></html>\n";
}

}  // namespace foretrain::profile
