// SPDX-License-Identifier: Apache-2.0
// The parts that a report is made of.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "foretrain/base/seconds.h"
#include "foretrain/knowledge/spread.h"
#include "foretrain/resource/bursts.h"
#include "foretrain/resource/kinds.h"

namespace foretrain {

// A predicted number. The ends of the interval are absent until they are calibrated.
struct Estimate {
  double value = 0;
  std::optional<double> low;
  std::optional<double> high;
  std::optional<double> confidence;
};

// Where the step's time goes; the parts add up to it.
struct Breakdown {
  Seconds compute{0};
  Seconds memory{0};
  Seconds exposed_communication{0};
  Seconds host{0};
  Seconds bubble{0};
  Seconds input{0};
};

inline StepShares shares_of(const Breakdown& parts) {
  const Seconds step = parts.compute + parts.memory + parts.exposed_communication + parts.host +
                       parts.bubble + parts.input;
  if (!(step > Seconds{0})) return {};
  return {parts.exposed_communication / step, parts.host / step};
}

// The step from its start to its end by phase, communication and waiting where they fall; input
// belongs to forward. They add up to the step.
struct Phases {
  Seconds forward{0};
  Seconds backward{0};
  Seconds update{0};
};

struct MemoryReport {
  double peak = 0;
  // Where measured peaks lie with the confidence of step times, and the probability that the job
  // fits; absent until they are calibrated.
  std::optional<double> low;
  std::optional<double> high;
  std::optional<double> fit_probability;
  double allocated = 0;
  double parameters = 0;
  double gradients = 0;
  double optimizer = 0;
  double activations = 0;
  double workspace = 0;
  double fragmentation = 0;
  double framework = 0;
  double communication = 0;  // of `framework`: buffers of the collectives' library
  double gathered = 0;       // of `parameters`: whole copies of what is sharded
  double capacity = 0;
  double least = 0;  // what the device must have: without cached memory and workspaces
  bool fits = true;
};

// One resource's use over time, or absent where it cannot be said.
struct ResourceReport {
  resource::Bursts bursts;
  std::string unit;
  // The numbers that an engine told with their intervals, by resource::Number.
  std::array<std::optional<Estimate>, resource::kNumbers.size()> estimates{};
};

struct RoleReport {
  std::optional<ResourceReport> gpu_util;
  std::optional<ResourceReport> gpu_memory_util;
  std::optional<ResourceReport> net_tx;
  std::optional<ResourceReport> net_rx;
  std::optional<ResourceReport> memory_used;
};

// The one that is meant; `role` may be const.
template <typename Role>
auto& use_of(Role& role, resource::Resource resource) {
  switch (resource) {
    case resource::Resource::Device:
      return role.gpu_util;
    case resource::Resource::Memory:
      return role.gpu_memory_util;
    case resource::Resource::Transmit:
      return role.net_tx;
    case resource::Resource::Receive:
      break;
  }
  return role.net_rx;
}

struct ResourcesReport {
  Seconds window{0.01};  // over which samples are averaged
  RoleReport worker;
  std::optional<RoleReport> server;
};

struct OperatorReport {
  std::string name;
  std::string kind;
  Seconds time{0};
  double share = 0;
};

}  // namespace foretrain
