// SPDX-License-Identifier: Apache-2.0
// What the forms of `foretrain collect` share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "foretrain/cli/console.h"
#include "foretrain/lab/workers.h"

namespace foretrain::cli {

class Command;

inline constexpr std::uintmax_t kMostCampaignBytes = 16 << 20;

struct CollectCommon {
  std::string store = "foretrain.db";
  std::string python;
  std::string log;
  bool plain = false;
  bool json = false;
};

// The options of all forms.
void add_collect_common(Command& command, CollectCommon& options);

// Runs `work` so that Ctrl-C ends it in order, with exit code 130 and `advice`. The lab's
// namespaces must be there before: a program that replaces this one would inherit what is noted.
void interruptible(const CollectCommon& options, const char* advice, Console& console,
                   const std::function<void(const lab::WorkerOptions&)>& work);

// A note on standard error.
void print_note(const std::string& note);

// The forms that time operators and collectives, as subcommands of `collect`.
void add_collect_timings(Command& collect, Console& console);

}  // namespace foretrain::cli
