// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "foretrain/base/seconds.h"

namespace foretrain::profile {

// A command as a child process that waits at first, so that nothing of it is missed.
// While this object lives, the signals INT, TERM, HUP, QUIT, USR1 and USR2 are blocked in this
// thread and those that it starts, and `wait` hands them on.
class Command {
 public:
  // With `output_to_errors` what it prints goes to standard error. Throws Error(Io).
  Command(const std::vector<std::string>& words, bool output_to_errors);
  ~Command();  // ends it where it still runs
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  int process() const { return process_; }

  // Lets it begin. Throws Error(NotFound) where there is no such program, Error(Io) where it cannot
  // be run.
  void begin();

  // Until it ends; signals that this process receives go to it, except those that a terminal has
  // sent to both. Returns its exit code, or 128 and the signal that ended it.
  int wait();

 private:
  std::string name_;
  int process_ = -1;
  int go_ = -1;      // a byte here lets it begin
  int failed_ = -1;  // what went wrong with the start comes from here
  std::vector<char> mask_;
};

// Waits until `gone` says so (asked every 20 ms), `limit` has passed (0: never) or the user
// interrupts.
void wait_until(const std::function<bool()>& gone, Seconds limit);

}  // namespace foretrain::profile
