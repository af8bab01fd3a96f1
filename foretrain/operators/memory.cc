// SPDX-License-Identifier: Apache-2.0
#include "foretrain/operators/memory.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "foretrain/memory/memory.h"
#include "foretrain/parallel/ddp.h"

namespace foretrain::operators {
namespace {

// Device memory that driver, libraries and kernels take before the first tensor; one run of the
// user's own gives a better value. Source: nvidia-smi readings collected in docs/models.md.
constexpr std::array<std::pair<std::string_view, double>, 9> kContextBytes{{{"kepler", 0.30e9},
                                                                            {"maxwell", 0.35e9},
                                                                            {"pascal", 0.50e9},
                                                                            {"volta", 0.90e9},
                                                                            {"turing", 0.90e9},
                                                                            {"ampere", 1.40e9},
                                                                            {"ada", 1.00e9},
                                                                            {"hopper", 1.60e9},
                                                                            {"blackwell", 1.60e9}}};
constexpr double kOtherContextBytes = 1.0e9;
constexpr double kCpuContextBytes = 0.25e9;   // the process itself
constexpr double kCollectivesBytes = 0.30e9;  // NCCL's channels and buffers

double context_bytes(const hw::Device& device) {
  if (device.context_bytes) return *device.context_bytes;
  if (hw::is_cpu(device)) return kCpuContextBytes;
  for (const auto& [architecture, bytes] : kContextBytes) {
    if (device.architecture == architecture) return bytes;
  }
  return kOtherContextBytes;
}

}  // namespace

MemoryReport report_memory(const Stages& stages, const Resolved& resolved) {
  // With mixed devices the smallest memory decides whether the job fits.
  const std::vector<hw::Device>& devices = resolved.cluster.devices;
  const hw::Device& device = *std::min_element(
      devices.begin(), devices.end(), [](const hw::Device& a, const hw::Device& b) {
        return hw::usable_memory_bytes(a) < hw::usable_memory_bytes(b);
      });
  memory::Options options;
  options.buckets = parallel::kDdpBuckets;
  options.short_with_master =
      resolved.framework->casting == graph::Casting::WholeModel && is_half(resolved.precision);
  options.search_workspace = !hw::is_cpu(device);
  options.channels_last = resolved.framework->channels_last;
  options.tensor_core_fp32 = resolved.precision == Precision::Tf32;
  options.caching_allocator = !hw::is_cpu(device);
  const memory::Use use = memory::step_memory(stages.bound, options);

  MemoryReport report;
  report.allocated = use.allocated;
  report.parameters = use.parameters;
  report.gradients = use.gradients;
  report.optimizer = use.optimizer;
  report.activations = use.activations;
  report.workspace = use.workspace;
  report.fragmentation = use.fragmentation;
  report.framework = resolved.context_bytes.value_or(context_bytes(device));
  const bool several = resolved.workers > 1 && resolved.mode == Mode::Train;
  if (!resolved.context_bytes && several && !hw::is_cpu(device)) {
    report.framework += kCollectivesBytes;
  }
  report.peak = report.allocated + report.fragmentation + report.framework;
  report.capacity = hw::usable_memory_bytes(device);
  report.fits = report.peak <= report.capacity;
  return report;
}

}  // namespace foretrain::operators
