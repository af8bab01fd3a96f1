// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace foretrain::lab {

// Replaces this process by the same command in namespaces of its own (mounts, network, processes),
// where it may create hosts that vanish with it however it ends. Returns where that is not
// permitted, and in the new process: then true.
bool isolate();

// Held while a lab runs: one per machine, for two would measure each other.
class Lock {
 public:
  Lock();  // throws Error(Io) where another lab runs
  ~Lock();
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int file_ = -1;
};

}  // namespace foretrain::lab
