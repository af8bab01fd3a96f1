// SPDX-License-Identifier: Apache-2.0
#include "foretrain/predict/detail/targets.h"

#include <optional>

#include "foretrain/resource/kinds.h"

namespace foretrain {
namespace {

// The parts stay in proportion, so that they still add up.
void set_step(Report& report, std::size_t, const Estimate& estimate) {
  const double scale = estimate.value / report.step_time_s.value;
  Breakdown& parts = report.breakdown;
  for (Seconds* part :
       {&parts.compute, &parts.memory, &parts.exposed_communication, &parts.host, &parts.bubble,
        &parts.input, &report.phases.forward, &report.phases.backward, &report.phases.update}) {
    *part *= scale;
  }
  report.step_time_s = estimate;
}

void set_peak(Report& report, std::size_t, const Estimate& estimate) {
  report.memory.peak = estimate.value;
  report.memory.low = estimate.low;
  report.memory.high = estimate.high;
  report.memory.fit_probability.reset();  // was the operator engine's
  report.memory.fits = estimate.value <= report.memory.capacity;
}

// A resource whose bursts and idles are told alternates.
void set_use(Report& report, std::size_t which, const Estimate& estimate) {
  const resource::UseName& use = resource::use_names()[which];
  const bool server = use.role == resource::Role::Server;
  if (server && !report.resources.server) report.resources.server.emplace();
  RoleReport& role = server ? *report.resources.server : report.resources.worker;
  std::optional<ResourceReport>& found = use_of(role, use.resource);
  const bool share =
      use.resource == resource::Resource::Device || use.resource == resource::Resource::Memory;
  if (!found) found = ResourceReport{.bursts = {}, .unit = share ? "%" : "B/s"};
  resource::Bursts& bursts = found->bursts;
  bursts.pattern = resource::Pattern::BIB;
  found->estimates[index_of(use.number)] = estimate;
  switch (use.number) {
    case resource::Number::BurstAmount:
      bursts.burst_amount = estimate.value;
      break;
    case resource::Number::IdleAmount:
      bursts.idle_amount = estimate.value;
      break;
    case resource::Number::BurstTime:
      bursts.burst = Seconds{estimate.value};
      break;
    case resource::Number::IdleTime:
      bursts.idle = Seconds{estimate.value};
      break;
    case resource::Number::BurstShare:
      bursts.burst_share = estimate.value;
      break;
  }
}

// A level: in bursts where the role's report has it there, else in idles.
void set_memory_used(Report& report, std::size_t which, const Estimate& estimate) {
  const bool server = resource::kRoles.at(which) == resource::Role::Server;
  if (server && !report.resources.server) report.resources.server.emplace();
  RoleReport& role = server ? *report.resources.server : report.resources.worker;
  if (!role.memory_used) role.memory_used = ResourceReport{.bursts = {}, .unit = "B"};
  const bool burst = role.memory_used->bursts.pattern == resource::Pattern::B;
  auto& bursts = role.memory_used->bursts;
  (burst ? bursts.burst_amount : bursts.idle_amount) = estimate.value;
  const auto number = burst ? resource::Number::BurstAmount : resource::Number::IdleAmount;
  role.memory_used->estimates[index_of(number)] = estimate;
}

std::vector<TargetName> make_targets() {
  std::vector<TargetName> targets{{"step_time_s", "step_time_s", set_step},
                                  {"memory_bytes.peak", "memory_bytes", set_peak}};
  const auto uses = resource::use_names();
  for (std::size_t i = 0; i < uses.size(); ++i) {
    targets.push_back({uses[i].report, "resources", set_use, i});
  }
  for (const resource::Role role : resource::kRoles) {
    targets.push_back(
        {resource::memory_used_report(role), "resources", set_memory_used, index_of(role)});
  }
  return targets;
}

}  // namespace

const std::vector<TargetName>& target_names() {
  static const std::vector<TargetName> kTargets = make_targets();
  return kTargets;
}

}  // namespace foretrain
