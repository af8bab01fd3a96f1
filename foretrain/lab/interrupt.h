// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace foretrain::lab {

// While this object lives, the signals INT (Ctrl-C), TERM and HUP do not end this process but are
// noted, so that work can end in order. One that was ignored before (nohup) stays ignored. Make it
// before any thread; threads and workers take no part in it: Child gives them signals as usual and
// a session of their own, which a terminal's signals do not reach.
class Interrupt {
 public:
  Interrupt();  // throws Error(Io)
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool raised() const;
  int descriptor() const { return descriptor_; }  // readable once it is raised

 private:
  sigset_t before_{};
  int descriptor_ = -1;
};

}  // namespace foretrain::lab
