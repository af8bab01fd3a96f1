// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace foretrain::lab {

// Whether namespaces and links between them may be made here: tried in one that is gone at once.
bool may_isolate();

// Replaces this process by the same command in namespaces of its own (mounts, network, processes),
// where it may create hosts that vanish with it however it ends. Returns where that is not
// permitted, and in the new process: then true.
bool isolate();

// The lab's lock: a file that every user can find, in each of these folders that there is.
inline const std::vector<std::string> kLockFiles{"/run/lock/foretrain-lab.lock",
                                                 "/tmp/foretrain-lab.lock"};

// Held while a lab runs: one per machine and whoever runs it, for two would measure each other.
class Lock {
 public:
  // Locks every file that is there or can be made. Throws Error(Io) where another lab runs, where
  // a file is there that cannot be read, and where none can be made.
  explicit Lock(const std::vector<std::string>& files = kLockFiles);
  ~Lock();
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  std::vector<int> held_;
};

// Does `work` as the one lab of this machine, once nothing of a lab that was killed is left. Throws
// Error(Io) where another lab runs.
void run_alone(const std::function<void()>& work);

}  // namespace foretrain::lab
