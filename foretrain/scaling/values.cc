// SPDX-License-Identifier: Apache-2.0
#include "foretrain/scaling/values.h"

#include <cmath>

#include "foretrain/hw/device.h"

namespace foretrain::scaling {
namespace {

double samples_per_step(const Resolved& resolved) {
  return static_cast<double>(resolved.batch) * resolved.data_parallel;
}

std::optional<double> samples_of(const Resolved& resolved, TimeOf time) {
  const Length& length = resolved.length;
  if (time == TimeOf::Epoch) return length.samples;
  if (length.steps) return std::ceil(*length.steps) * samples_per_step(resolved);
  if (length.samples && length.epochs) return *length.samples * *length.epochs;
  return std::nullopt;
}

}  // namespace

std::optional<double> value_of(std::string_view variable, const Resolved& resolved, TimeOf time) {
  if (variable == "workers") return resolved.workers;
  if (variable == "nodes") return static_cast<double>(resolved.cluster.nodes.size());
  if (variable == "batch") return static_cast<double>(resolved.batch);
  if (variable == "samples") return samples_of(resolved, time);
  const hw::Device& device = resolved.cluster.devices.front();
  if (variable == "cores" && hw::is_cpu(device)) return device.sms * device.core_share;
  return std::nullopt;
}

std::optional<double> steps_in(TimeOf time, const Resolved& resolved) {
  if (time == TimeOf::Step) return 1;
  const Length& length = resolved.length;
  if (time == TimeOf::Total && length.steps) return std::ceil(*length.steps);
  if (!length.samples) return std::nullopt;
  const double epoch = std::ceil(*length.samples / samples_per_step(resolved));
  if (time == TimeOf::Epoch) return epoch;
  if (!length.epochs) return std::nullopt;
  return epoch * *length.epochs;
}

}  // namespace foretrain::scaling
