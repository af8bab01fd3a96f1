// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/detail/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "foretrain/base/error.h"

namespace foretrain::profile {
namespace {

// As NVML's interface defines them; only what is used.
constexpr int kSuccess = 0;
constexpr int kPowerSamples = 0;
constexpr int kGpuSamples = 1;
constexpr int kMemorySamples = 2;
constexpr unsigned kMostGpus = 64;
constexpr unsigned kMostSamples = 4096;
constexpr unsigned kNameBytes = 96;

using Device = void*;

struct Sample {
  unsigned long long time_us;
  std::array<unsigned char, 8> value;  // a union
};

struct MemoryInfo {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

enum class ValueType { Double, UnsignedInt, UnsignedLong, UnsignedLongLong, SignedLongLong };

template <typename T>
double value_as(const Sample& sample) {
  T value{};
  std::memcpy(&value, sample.value.data(), sizeof value);
  return static_cast<double>(value);
}

double value_of(const Sample& sample, int type) {
  switch (static_cast<ValueType>(type)) {
    case ValueType::Double:
      return value_as<double>(sample);
    case ValueType::UnsignedInt:
      return value_as<unsigned>(sample);
    case ValueType::UnsignedLong:
      return value_as<unsigned long>(sample);
    case ValueType::UnsignedLongLong:
      return value_as<unsigned long long>(sample);
    case ValueType::SignedLongLong:
      return value_as<long long>(sample);
  }
  return 0;
}

}  // namespace

struct Nvml::Library {
  void* handle = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*device)(unsigned, Device*) = nullptr;
  int (*samples)(Device, int, unsigned long long, int*, unsigned*, Sample*) = nullptr;
  int (*memory)(Device, MemoryInfo*) = nullptr;
  int (*name_of)(Device, char*, unsigned) = nullptr;  // older ones go without
  bool started = false;

  explicit Library(const std::string& name) : handle(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle == nullptr) return;
    find(init, "nvmlInit_v2");
    find(shutdown, "nvmlShutdown");
    find(count, "nvmlDeviceGetCount_v2");
    find(device, "nvmlDeviceGetHandleByIndex_v2");
    find(samples, "nvmlDeviceGetSamples");
    find(memory, "nvmlDeviceGetMemoryInfo");
    find(name_of, "nvmlDeviceGetName");
    const bool complete = init != nullptr && shutdown != nullptr && count != nullptr &&
                          device != nullptr && samples != nullptr && memory != nullptr;
    started = complete && init() == kSuccess;
  }
  ~Library() {
    if (started) shutdown();
    if (handle != nullptr) dlclose(handle);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  template <typename Function>
  void find(Function& function, const char* name) {
    void* const symbol = dlsym(handle, name);
    static_assert(sizeof symbol == sizeof function);
    std::memcpy(&function, &symbol, sizeof function);
  }
};

struct Nvml::Gpu {
  Device device = nullptr;
  std::array<unsigned long long, 3> last_us{};  // by the kind of sample
};

Nvml::Nvml(std::unique_ptr<Library> library) : library_(std::move(library)) {}
Nvml::~Nvml() = default;

std::unique_ptr<Nvml> Nvml::open(const std::string& library, int index) {
  auto loaded = std::make_unique<Library>(library);
  unsigned count = 0;
  if (!loaded->started || loaded->count(&count) != kSuccess || count == 0) return nullptr;
  if (index >= static_cast<int>(count)) {
    throw Error(ErrorKind::NotFound, "there is no GPU " + std::to_string(index) +
                                         "; the indices go from 0 to " + std::to_string(count - 1));
  }
  std::unique_ptr<Nvml> nvml(new Nvml(std::move(loaded)));
  for (unsigned i = 0; i < std::min(count, kMostGpus); ++i) {
    if (index >= 0 && static_cast<int>(i) != index) continue;
    Gpu gpu;
    if (nvml->library_->device(i, &gpu.device) == kSuccess) nvml->gpus_.push_back(gpu);
  }
  if (nvml->gpus_.empty()) return nullptr;
  nvml->readings_.resize(nvml->gpus_.size());
  return nvml;
}

void Nvml::take_samples(Gpu& gpu, int type, double unit, Readings& total) {
  unsigned long long& last_us = gpu.last_us[static_cast<std::size_t>(type)];
  int value_type = 0;
  unsigned count = 0;
  const auto& ask = library_->samples;
  if (ask(gpu.device, type, last_us, &value_type, &count, nullptr) != kSuccess) return;
  std::vector<Sample> samples(std::min(count, kMostSamples));
  count = static_cast<unsigned>(samples.size());
  if (ask(gpu.device, type, last_us, &value_type, &count, samples.data()) != kSuccess) return;
  samples.resize(std::min<std::size_t>(count, samples.size()));
  std::sort(samples.begin(), samples.end(),
            [](const Sample& a, const Sample& b) { return a.time_us < b.time_us; });
  for (const Sample& sample : samples) {
    if (sample.time_us <= last_us) continue;
    const double time_s = 1e-6 * static_cast<double>(sample.time_us);
    const double before = total.value.empty() ? 0 : total.value.back();
    const double passed = total.time_s.empty() ? 0 : time_s - total.time_s.back();
    total.time_s.push_back(time_s);
    total.value.push_back(before + passed * unit * value_of(sample, value_type));
    last_us = sample.time_us;
  }
}

void Nvml::poll(Seconds now) {
  constexpr double kMilliwatt = 1e-3;
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    GpuReadings& readings = readings_[i];
    take_samples(gpus_[i], kGpuSamples, 1, readings.util);
    take_samples(gpus_[i], kMemorySamples, 1, readings.memory_util);
    take_samples(gpus_[i], kPowerSamples, kMilliwatt, readings.power);
    MemoryInfo info{};
    if (library_->memory(gpus_[i].device, &info) == kSuccess) {
      readings.used_bytes.time_s.push_back(now.count());
      readings.used_bytes.value.push_back(static_cast<double>(info.used));
      readings.total_bytes = static_cast<double>(info.total);
    }
    const std::vector<double>& time_s = readings.util.time_s;
    if (time_s.size() > 1) {
      readings.refresh =
          Seconds{(time_s.back() - time_s.front()) / static_cast<double>(time_s.size() - 1)};
    }
  }
}

std::vector<GpuFacts> Nvml::facts() const {
  std::vector<GpuFacts> made;
  for (const Gpu& gpu : gpus_) {
    GpuFacts one;
    std::array<char, kNameBytes> name{};
    if (library_->name_of != nullptr &&
        library_->name_of(gpu.device, name.data(), kNameBytes - 1) == kSuccess) {
      one.name = name.data();
    }
    MemoryInfo info{};
    if (library_->memory(gpu.device, &info) == kSuccess) {
      one.memory_bytes = static_cast<double>(info.total);
    }
    made.push_back(std::move(one));
  }
  return made;
}

const GpuReadings* busiest_gpu(const std::vector<GpuReadings>& gpus) {
  const GpuReadings* best = nullptr;
  double most = -1;
  for (const GpuReadings& gpu : gpus) {
    const Readings& util = gpu.util;
    const double passed = util.time_s.empty() ? 0 : util.time_s.back() - util.time_s.front();
    const double mean = passed > 0 ? (util.value.back() - util.value.front()) / passed : 0;
    if (mean > most) best = &gpu;
    most = std::max(most, mean);
  }
  return best;
}

}  // namespace foretrain::profile
