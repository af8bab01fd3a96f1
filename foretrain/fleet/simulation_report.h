// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "foretrain/sched/simulate.h"

namespace foretrain::fleet {

// One simulation and what was assumed for it.
struct SimulationReport {
  std::string policy;
  std::string placement;
  std::uint64_t seed = 0;
  sched::Summary summary;
  std::vector<std::string> assumptions;
};

// The JSON of INTERFACE, on one line; of several simulations {"runs": [...]}.
std::string to_json(const SimulationReport& report);
std::string to_json(const std::vector<SimulationReport>& reports);

// The means over the simulations of one policy, which differ in their seeds.
struct PolicyMeans {
  std::string policy;
  double runs = 0;
  double jct_mean_s = 0;
  double jct_median_s = 0;
  double jct_p99_s = 0;
  double queue_mean_s = 0;
  double makespan_s = 0;
  double device_utilisation = 0;
  double fairness = 0;
  double preemptions = 0;
};

// In the order of the reports, in which those of one policy stand together.
std::vector<PolicyMeans> means_by_policy(const std::vector<SimulationReport>& reports);

// The same of reports as JSON. Throws Error(BadInput) for what is no report.
std::vector<PolicyMeans> means_by_policy(const std::vector<std::string>& json_reports);

}  // namespace foretrain::fleet
