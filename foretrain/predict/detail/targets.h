// SPDX-License-Identifier: Apache-2.0
// The numbers of a report that engines can tell.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "foretrain/predict/report.h"

namespace foretrain {

struct TargetName {
  std::string_view name;   // its path in the report
  std::string_view group;  // of Report::engines: "step_time_s", "memory_bytes", "resources"
  void (*set)(Report& report, std::size_t which, const Estimate& estimate);
  std::size_t which = 0;  // of resource::use_names(), for a number of a resource; a role's index
};
const std::vector<TargetName>& target_names();

}  // namespace foretrain
