// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/profile_text.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "foretrain/base/humanise.h"
#include "foretrain/base/near.h"
#include "foretrain/cli/resource_text.h"
#include "foretrain/cli/table.h"

namespace foretrain::cli {
namespace {

constexpr std::array kBlocks{" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                             "\u2585", "\u2586", "\u2587", "\u2588"};
constexpr std::array kSigns{" ", ".", ":", "-", "=", "+", "*", "#", "@"};

// The samples in at most `width` parts, each by its mean; what is not known is 0.
std::vector<double> parts_of(const std::vector<double>& samples, int width) {
  const auto count = static_cast<double>(samples.size());
  const int cells = std::min(width, static_cast<int>(samples.size()));
  std::vector<double> parts;
  for (int cell = 0; cell < cells; ++cell) {
    const auto from = static_cast<std::size_t>(count * cell / cells);
    const auto to = static_cast<std::size_t>(count * (cell + 1) / cells);
    double sum = 0;
    double known = 0;
    for (std::size_t i = from; i < to; ++i) {
      if (!std::isfinite(samples[i])) continue;
      sum += samples[i];
      ++known;
    }
    parts.push_back(known > 0 ? sum / known : 0);
  }
  return parts;
}

// A sign for each part, as high as its share of `top`.
std::string plot(const std::vector<double>& parts, double top, bool unicode) {
  std::string line;
  for (const double part : parts) {
    const double share = top > 0 ? std::clamp(part / top, 0.0, 1.0) : 0;
    const auto height = static_cast<std::size_t>(std::lround(share * (kBlocks.size() - 1)));
    line += unicode ? kBlocks[height] : kSigns[height];
  }
  return line;
}

std::string plots(const profile::Recording& recording, const profile::Profile& profile,
                  const Screen& screen) {
  constexpr int kNames = 30;
  std::string text;
  for (const profile::ResourceUse& use : profile.resources) {
    const profile::RecordingColumn* column = profile::find_column(recording, use.name);
    if (column == nullptr) continue;
    const std::vector<double> parts =
        parts_of(column->samples, std::max(10, screen.width - kNames));
    double top = use.unit == "%" ? 100 : 0;
    for (const double part : parts) top = std::max(top, part);
    std::string label = "  " + printable(use.name);
    label.resize(std::max<std::size_t>(label.size(), 18), ' ');
    const std::string line = plot(parts, top, screen.unicode);
    text += label + paint(line, Colour::Cyan, screen) + "| " + amount_text(top, use.unit) + "\n";
  }
  return text;
}

std::string with_spread(const std::string& value, const std::string& spread, const Screen& screen) {
  if (spread == "-") return value;
  return value + (screen.unicode ? " \u00b1 " : " +- ") + spread;
}

}  // namespace

std::string profile_text(const profile::Recording& recording, const profile::Profile& profile,
                         const Screen& screen) {
  std::string text = paint("Profile", Colour::Bold, screen) + "  " + format_time(profile.duration) +
                     " in windows of " + format_count(profile.window.count() * 1e3) + " ms\n";
  text += plots(recording, profile, screen) + "\n";
  Table table{{{"", false},
               {"pattern", false},
               {"mean", true},
               {"in bursts", true},
               {"in idles", true},
               {"burst lasts", true},
               {"idle lasts", true}},
              {}};
  for (const profile::ResourceUse& use : profile.resources) {
    const resource::Bursts& bursts = use.bursts;
    const auto amount = [&](const auto& value, const auto& sd) {
      return with_spread(amount_text(value, use.unit), amount_text(sd, use.unit), screen);
    };
    const auto time = [&](const auto& value, const auto& sd) {
      return with_spread(duration_text(value), duration_text(sd), screen);
    };
    table.rows.push_back({use.name, pattern_text(bursts.pattern), amount_text(use.mean, use.unit),
                          amount(bursts.burst_amount, bursts.burst_amount_sd),
                          amount(bursts.idle_amount, bursts.idle_amount_sd),
                          time(bursts.burst, bursts.burst_sd), time(bursts.idle, bursts.idle_sd)});
  }
  text += table.rows.empty() ? "  nothing was sampled\n" : render(table, screen);
  if (profile.period) {
    text += "\n  One iteration takes " + format_time(*profile.period) + " (seen in " +
            profile.period_of + ").\n";
  }
  for (const std::string& note : profile.notes) text += wrap(note, "  - ", screen);
  return text;
}

}  // namespace foretrain::cli
