// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/detail/metric.h"

namespace foretrain::lab {
namespace {

std::optional<double> seconds_of(const std::optional<Seconds>& time) {
  return time ? std::optional(time->count()) : std::nullopt;
}

}  // namespace

store::Metric metric_of(const profile::ResourceUse& use) {
  const resource::Bursts& bursts = use.bursts;
  return {.role = "worker",
          .resource = use.name,
          .unit = use.unit,
          .pattern = to_string(bursts.pattern),
          .burst_amount = bursts.burst_amount,
          .idle_amount = bursts.idle_amount,
          .burst_s = seconds_of(bursts.burst),
          .idle_s = seconds_of(bursts.idle),
          .burst_amount_sd = bursts.burst_amount_sd,
          .idle_amount_sd = bursts.idle_amount_sd,
          .burst_sd_s = seconds_of(bursts.burst_sd),
          .idle_sd_s = seconds_of(bursts.idle_sd),
          .burst_share = bursts.burst_share};
}

}  // namespace foretrain::lab
