// SPDX-License-Identifier: Apache-2.0
// Jobs whose use of resources was measured: the store's runs with their metrics.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/resource/kinds.h"

namespace foretrain::measured {

// How the processes of one role used one resource, in the unit of the report.
struct ResourceUse {
  double alternating = 0;  // share of the recordings that have bursts and idles (BIB)
  // Of the recordings that alternate, where at least half do; else only the level of the others.
  std::optional<double> amount{};  // in bursts, or the level
  std::optional<double> idle_amount{};
  std::optional<double> burst_s{};
  std::optional<double> idle_s{};
  double burst_share = 0;  // of the time
};

struct RoleUse {
  std::array<std::optional<ResourceUse>, resource::kResources.size()> of{};
  std::optional<double> memory_used{};  // bytes
};

// One good run, or the median of several.
struct RunUse {
  double step_time_s = 0;
  std::array<std::optional<RoleUse>, resource::kRoles.size()> roles{};
};

// One number of a run; absent where it was not measured, or the resource does not alternate.
std::optional<double> number_of(const RunUse& run, const resource::UseName& use);

// The runs of one configuration in one setting.
struct ResourceJob {
  std::string model{};
  std::string setting{};
  std::string split{};    // "train", "test"
  std::string request{};  // JSON
  std::vector<RunUse> repeats{};
  RunUse median{};  // of the repeats and of their processes
};

// In the order of their first runs; whole jobs and runs without metrics are left out. `data` is a
// store or a folder that it exported. Throws Error: BadInput naming file and line, or where there
// is no such run; NotFound; Io.
std::vector<ResourceJob> resource_jobs(const std::filesystem::path& data);

// Number by number the median of the runs; each has at least one.
RunUse median_of(const std::vector<RunUse>& runs);

}  // namespace foretrain::measured
