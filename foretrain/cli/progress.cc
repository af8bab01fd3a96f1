// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "foretrain/base/humanise.h"

namespace foretrain::cli {
namespace {

constexpr std::chrono::milliseconds kPatience{1000};
constexpr std::chrono::milliseconds kBetween{100};
constexpr int kCells = 30;

}  // namespace

Progress::Progress(const char* what, bool wanted)
    : what_(what),
      terminal_(wanted && isatty(STDERR_FILENO) != 0),
      next_(Clock::now() + kPatience) {}

Progress::~Progress() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void Progress::show(std::size_t done, std::optional<double> share, std::optional<Seconds> left,
                    const std::string& note) {
  if (!terminal_ || Clock::now() < next_) return;
  next_ = Clock::now() + kBetween;
  shown_ = true;
  std::string bar;
  if (share) {
    const int full = static_cast<int>(std::clamp(*share, 0.0, 1.0) * kCells);
    bar = "[" + std::string(static_cast<std::size_t>(full), '#') +
          std::string(static_cast<std::size_t>(kCells - full), '.') + "] " + format_share(*share) +
          ", ";
  }
  const std::string rest =
      (note.empty() ? "" : ", " + note) + (left ? ", " + format_time(*left) + " left" : "");
  std::fprintf(stderr, "\r\033[K%s%s %s%s", bar.c_str(),
               format_count(static_cast<double>(done)).c_str(), what_, rest.c_str());
}

}  // namespace foretrain::cli
