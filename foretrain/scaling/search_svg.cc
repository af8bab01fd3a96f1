// SPDX-License-Identifier: Apache-2.0
#include "foretrain/scaling/search_svg.h"

#include <algorithm>
#include <cmath>

#include "foretrain/base/escape_xml.h"
#include "foretrain/base/format.h"
#include "foretrain/base/near.h"
#include "foretrain/base/svg.h"

namespace foretrain::scaling {
namespace {

constexpr double kLeft = 80;  // all in pixels
constexpr double kWidth = 640;
constexpr double kTop = 34;
constexpr double kHeight = 260;

// Places of the picture.
struct Axes {
  double runs = 1;
  double least = 1;  // of the goals
  double most = 1;

  double x(std::size_t run) const {
    return kLeft + kWidth * (static_cast<double>(run) + 0.5) / runs;
  }
  double y(double goal) const {
    if (most <= least) return kTop + kHeight / 2;
    const double share = (std::log(goal) - std::log(least)) / (std::log(most) - std::log(least));
    return kTop + kHeight * (1 - share);
  }
};

Axes axes_of(const SearchSpace& space, const std::vector<Tried>& history,
             const SearchOptions& options) {
  Axes axes{.runs = static_cast<double>(std::max<std::size_t>(1, history.size()))};
  bool first = true;
  for (const Tried& one : history) {
    if (!one.time_s) continue;
    const double goal = goal_of(space, one, options);
    axes.least = first ? goal : std::min(axes.least, goal);
    axes.most = first ? goal : std::max(axes.most, goal);
    first = false;
  }
  return axes;
}

std::string mark(double x, double y, bool answers, const std::string& title) {
  return "<circle cx=\"" + svg_number(x) + "\" cy=\"" + svg_number(y) + "\" r=\"4\" " +
         (answers ? "fill=\"#2c6fbb\"" : "fill=\"#fff\" stroke=\"#c0504d\"") + "><title>" +
         escape_xml(printable(title, std::string::npos)) + "</title></circle>\n";
}

// Down at each run that was better than all before.
std::string best_line(const SearchSpace& space, const std::vector<Tried>& history,
                      const SearchOptions& options, const Axes& axes) {
  std::string path;
  std::vector<Tried> so_far;
  for (std::size_t i = 0; i < history.size(); ++i) {
    so_far.push_back(history[i]);
    const auto best = best_of(space, so_far, options);
    if (!best) continue;
    const std::string y = svg_number(axes.y(goal_of(space, so_far[*best], options)));
    path += path.empty() ? "M" + svg_number(axes.x(i)) + " " + y
                         : "H" + svg_number(axes.x(i)) + "V" + y;
  }
  return "<path d=\"" + path + "\" fill=\"none\" stroke=\"#555\" stroke-dasharray=\"5 3\"/>\n";
}

}  // namespace

std::string search_svg(const SearchSpace& space, const std::vector<Tried>& history,
                       const SearchOptions& options) {
  const Axes axes = axes_of(space, history, options);
  const double end = kTop + kHeight;
  std::string text = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
                     svg_number(kLeft + kWidth + 20) + "\" height=\"" + svg_number(end + 40) +
                     "\" font-family=\"sans-serif\" font-size=\"12\">\n";
  text += svg_text(kLeft, 18,
                   options.price ? "time x " + space.variables[*options.price] +
                                       " of each run (dashed: the best so far)"
                                 : "seconds of each run (dashed: the best so far)");
  text += "<rect x=\"" + svg_number(kLeft) + "\" y=\"" + svg_number(kTop) + "\" width=\"" +
          svg_number(kWidth) + "\" height=\"" + svg_number(kHeight) + "\" fill=\"#f6f8fa\"/>\n";
  text += svg_text(kLeft - 8, kTop + 4, format("%.4g", axes.most), "end");
  text += svg_text(kLeft - 8, end, format("%.4g", axes.least), "end");
  text += best_line(space, history, options, axes);
  for (std::size_t i = 0; i < history.size(); ++i) {
    const Tried& one = history[i];
    const std::string title = "run " + std::to_string(i + 1) + ": " +
                              describe_point(space, one.point) + ": " +
                              (one.time_s ? format("%.6g s", *one.time_s) : "failed");
    const double y = one.time_s ? axes.y(goal_of(space, one, options)) : kTop;
    text += mark(axes.x(i), y, best_of(space, {one}, options).has_value(), title);
  }
  text += svg_text(kLeft, end + 18, "run 1");
  text += svg_text(kLeft + kWidth, end + 18, "run " + std::to_string(history.size()), "end");
  return text + "</svg>\n";
}

}  // namespace foretrain::scaling
