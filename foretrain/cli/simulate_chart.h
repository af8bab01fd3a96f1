// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "foretrain/fleet/chart.h"
#include "foretrain/fleet/simulation_report.h"

namespace foretrain::cli {

// An SVG; inside an HTML page with the figures of the report where `path` ends in ".html".
std::string chart_text(const fleet::Chart& chart, const fleet::SimulationReport& report,
                       const std::string& path);

}  // namespace foretrain::cli
