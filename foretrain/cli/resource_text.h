// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "foretrain/cli/console.h"
#include "foretrain/predict/report.h"

namespace foretrain::cli {

// The resources of a report: for the worker, and the server where there is one, a table of
// patterns, amounts and durations. What is not known is left out.
std::string resources_text(const Report& report, const Screen& screen);

}  // namespace foretrain::cli
