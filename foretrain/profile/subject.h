// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/base/seconds.h"

namespace foretrain::profile {

// Threads whose names begin so move data and do not compute; their time is no use of the device.
// pt_main_thread and pt_autograd_ compute.
inline const std::vector<std::string> kCommunicationThreads{
    "gloo", "pt_gloo", "pt_tcpstore", "pt_nccl", "pt_dist_engine", "pt_workerserver", "pt_elastic"};

// What becomes one recording: processes with all their descendants, and all of a cgroup.
struct Subject {
  std::string name{};
  std::vector<int> processes{};
  std::string cgroup{};        // folder; all processes in it and below it
  double cores = 0;            // the allotment that is 100 %; 0: the CPUs its first process may use
  double net_bytes_per_s = 0;  // what its link can carry; 0: not known
};

struct SamplerOptions {
  Seconds interval{0.01};
  std::vector<std::string> interfaces{};                               // empty: all but lo
  std::vector<std::string> uncounted_threads = kCommunicationThreads;  // prefixes of names
  bool realtime = true;  // SCHED_FIFO where the system permits it
  bool gpu = true;       // ask NVML where it is
  int gpu_index = -1;    // -1: all, of which the busiest is reported
  std::string nvml_library = "libnvidia-ml.so.1";
};

}  // namespace foretrain::profile
