// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "foretrain/base/seconds.h"

namespace foretrain::cli {

// A bar on standard error for work that takes more than a second; silent where standard error
// is no terminal, and where it is not `wanted`. Clears its line when it goes.
class Progress {
 public:
  explicit Progress(const char* what, bool wanted = true);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` pieces are finished, which is the share `share` of all where that is known; `left` is
  // the time until the end; `note` says how it goes.
  void show(std::size_t done, std::optional<double> share, std::optional<Seconds> left = {},
            const std::string& note = {});

 private:
  using Clock = std::chrono::steady_clock;

  const char* what_;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point next_;
};

}  // namespace foretrain::cli
