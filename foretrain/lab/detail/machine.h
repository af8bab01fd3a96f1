// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/base/seconds.h"
#include "foretrain/store/rows.h"

namespace foretrain::lab {

// This machine, for the store: a stable identity that names nobody, CPU, memory, kernel.
store::Machine describe_machine();

// A machine's id from what names it (/etc/machine-id, else its name) and its CPU: one-way, so that
// the id names nobody.
std::string machine_id(const std::string& name, const std::string& cpu);

int core_count();

// Time of a fixed amount of arithmetic and memory traffic, done on every core at once, mean over
// the cores: about 0.2 s on the machine it was made on. It follows the machine's speed at the
// moment, which drifts on shared hardware. Done by a process that joins `cgroups`, files as in
// child.h, so that it has the weight of a job's. Not while this process has other threads.
Seconds calibrate(const std::vector<std::string>& cgroups);

// What one core can copy, read and written bytes counted, best of several attempts.
double memory_bytes_per_s();

// CPU time of this process and all its descendants, those that have ended and were waited for too.
Seconds own_cpu_time();

// CPU time on this machine that is not ours.
class ForeignLoad {
 public:
  ForeignLoad();
  double cores() const;  // used by others on average since the start

 private:
  double busy_s_;
  double own_s_;
  Seconds start_;
};

}  // namespace foretrain::lab
