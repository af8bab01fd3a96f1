// SPDX-License-Identifier: Apache-2.0
// The numbers of a report that engines can tell.
#pragma once

#include <span>
#include <string_view>

#include "foretrain/predict/report.h"

namespace foretrain {

struct TargetName {
  std::string_view name;   // its path in the report
  std::string_view group;  // of Report::engines: "step_time_s", "memory_bytes", "resources"
  void (*set)(Report& report, const Estimate& estimate);
};
std::span<const TargetName> target_names();

}  // namespace foretrain
