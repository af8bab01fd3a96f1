// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "foretrain/cli/console.h"
#include "foretrain/predict/report.h"

namespace foretrain::cli {

// "7 min 41 s", with its interval where there is one: "7 min 41 s (7 min 2 s to 8 min, 90 %)".
std::string describe_time(const Estimate& seconds);
std::string describe_money(const Estimate& usd);

// A report as a page for people: what was asked, times, memory, where the time goes, resources,
// assumptions and warnings.
std::string report_text(const Report& report, const Screen& screen);

}  // namespace foretrain::cli
