// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "foretrain/base/seconds.h"
#include "foretrain/profile/recording.h"
#include "foretrain/profile/subject.h"

namespace foretrain::profile {

// Samples subjects while they run, from a thread of its own.
//
// Columns of each recording:
//   gpu_util      %    CPU time of the computing threads over the allotment (where a GPU is: NVML's
//                      GPU utilisation, and the CPU's share is cpu_util)
//   gpu_memory_util %  NVML only
//   memory_used   B    resident bytes, summed over processes (GPU: the device's used bytes)
//   net_tx net_rx B/s  of all interfaces in the network namespaces of the processes
//   disk_read disk_write B/s   what the processes made the disks read and write
//   power         W    NVML only
// A column that could not be read at all is left out and a note says so. Counters are read at the
// true times of the wake-ups and averaged into equal windows, so totals are kept.
//
// A running thread's CPU clock is refreshed by the kernel only at scheduler events; a thread per
// CPU of the class SCHED_FIFO that wakes at each sample makes one. Without the right to do so
// samples are noisier, and a note says so. New threads are seen at the next sample, new
// processes within 50 ms; what ends between two samples loses what it did since the last.
class Sampler {
 public:
  // Throws Error: NotFound for a process or cgroup that is not there, BadInput for an interval
  // below 1 ms or above 10 s.
  Sampler(std::vector<Subject> subjects, SamplerOptions options = {});
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  void start();                   // sampling begins; windows count from here
  std::vector<Recording> stop();  // ends it: one recording per subject, in their order

  bool alive() const;        // whether a process of any subject is still there
  Seconds cpu_time() const;  // that sampling itself has taken; after stop

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace foretrain::profile
