// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "foretrain/base/seconds.h"
#include "foretrain/profile/detail/windows.h"
#include "foretrain/profile/gpu_facts.h"

namespace foretrain::profile {

// What NVML has said of one GPU. Times are those of CLOCK_REALTIME. Utilisation and power come from
// NVML's own sample buffer, where each sample is the mean since the one before; here they are
// running totals (% s and W s), so that means over windows follow.
struct GpuReadings {
  Readings util{};
  Readings memory_util{};
  Readings power{};
  Readings used_bytes{};
  double total_bytes = 0;
  Seconds refresh{0};  // usual distance between two samples of the utilisation
};

// NVIDIA's management library, loaded at run time.
class Nvml {
 public:
  // Null where the library is not there, does not start or sees no GPU. `index` -1: all of them.
  // Throws Error(NotFound) for an index beyond what it sees.
  static std::unique_ptr<Nvml> open(const std::string& library, int index);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // Takes what is new in the sample buffers, which hold some seconds: call it a few times a second.
  void poll(Seconds now);

  const std::vector<GpuReadings>& readings() const { return readings_; }

  // What does not change: names and memories.
  std::vector<GpuFacts> facts() const;

 private:
  struct Library;
  struct Gpu;
  explicit Nvml(std::unique_ptr<Library> library);
  void take_samples(Gpu& gpu, int type, double unit, Readings& total);

  std::unique_ptr<Library> library_;
  std::vector<Gpu> gpus_;
  std::vector<GpuReadings> readings_;
};

// The GPU that was used most, by its mean utilisation; null where none said anything.
const GpuReadings* busiest_gpu(const std::vector<GpuReadings>& gpus);

}  // namespace foretrain::profile
