// SPDX-License-Identifier: Apache-2.0
#include "foretrain/operators/detail/memory.h"

#include <algorithm>

#include "foretrain/graph/offload.h"
#include "foretrain/memory/memory.h"

namespace foretrain::operators {
namespace {

double context_bytes(const hw::Device& device, const memory::ContextBytes& context) {
  if (device.context_bytes) return *device.context_bytes;
  if (hw::is_cpu(device)) return context.cpu;
  return memory::gpu_context_bytes(context, device.architecture);
}

// Channels and buffers of collectives.
double communication_bytes(const Resolved& resolved, const hw::Device& device) {
  const bool several = resolved.workers > 1 && resolved.mode == Mode::Train;
  if (resolved.context_bytes || !several || hw::is_cpu(device)) return 0;
  return resolved.memory_context->collectives;
}

// Then what the optimizer keeps lies there.
bool updates_on_host(const graph::Graph& step) {
  return std::any_of(step.nodes.begin(), step.nodes.end(), graph::is_host_update);
}

}  // namespace

MemoryReport report_memory(const graph::Bound& step, const Resolved& resolved) {
  // With mixed devices the smallest memory decides whether the job fits.
  const std::vector<hw::Device>& devices = resolved.cluster.devices;
  const hw::Device& device = *std::min_element(
      devices.begin(), devices.end(), [](const hw::Device& a, const hw::Device& b) {
        return hw::usable_memory_bytes(a) < hw::usable_memory_bytes(b);
      });
  memory::Options options;
  options.keeps_blobs = resolved.framework->keeps_blobs;
  if (resolved.framework->workspace_mib > 0) {
    options.most_workspace_bytes = resolved.framework->workspace_mib * 1048576;
  }
  options.flat_buffers = parallel::flat_buffers(step, resolved);
  // Caffe2's all-reduce leaves the sum beside each gradient and, on the first GPU, what came last.
  if (options.keeps_blobs) {
    const std::vector<double> once = options.flat_buffers;
    options.flat_buffers.insert(options.flat_buffers.end(), once.begin(), once.end());
  }
  options.half_with_master = !updates_on_host(*step.graph) &&
                             resolved.framework->casting == graph::Casting::WholeModel &&
                             is_half(resolved.precision) && resolved.weights == Weights::Fp32;
  options.composed_rms_norm = resolved.framework->fusion == graph::Fusion::None;
  options.fused_update = resolved.fused_optimizer;
  options.search_workspace = !hw::is_cpu(device);
  options.channels_last = resolved.framework->channels_last;
  options.tensor_core_fp32 = resolved.precision == Precision::Tf32;
  options.caching_allocator = !hw::is_cpu(device);
  memory::Use use = memory::step_memory(step, options);

  MemoryReport report;
  report.communication = communication_bytes(resolved, device);
  report.framework =
      resolved.context_bytes.value_or(context_bytes(device, *resolved.memory_context)) +
      report.communication;
  report.capacity = hw::usable_memory_bytes(device);
  const double limit = report.capacity - report.framework;
  const double lost_share = hw::is_cpu(device) ? 0 : resolved.memory_context->lost_share;
  report.fits = memory::squeeze(use, limit, lost_share);
  report.allocated = use.allocated;
  report.parameters = use.parameters;
  report.gradients = use.gradients;
  report.optimizer = use.optimizer;
  report.activations = use.activations;
  report.workspace = use.workspace;
  report.fragmentation = use.fragmentation;
  report.peak = report.allocated + report.fragmentation + report.framework;
  if (report.fits) report.peak = std::min(report.peak, report.capacity);  // not by a rounding more
  return report;
}

}  // namespace foretrain::operators
