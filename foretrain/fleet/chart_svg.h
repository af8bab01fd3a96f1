// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "foretrain/fleet/chart.h"

namespace foretrain::fleet {

// The chart as a picture: devices in use and jobs that wait over time, and a Gantt chart of the
// first jobs. Stands alone: no script, no font, nothing loaded.
std::string chart_svg(const Chart& chart, const std::string& policy);

}  // namespace foretrain::fleet
