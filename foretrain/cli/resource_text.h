// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "foretrain/cli/console.h"
#include "foretrain/predict/report.h"

namespace foretrain::cli {

// "bursts (BIB)", "3.2 MB/s", "12 ms"; "-" for what is absent.
const char* pattern_text(resource::Pattern pattern);
std::string amount_text(const std::optional<double>& value, const std::string& unit);
std::string duration_text(const std::optional<Seconds>& time);

// The resources of a report: for the worker, and the server where there is one, a table of
// patterns, amounts and durations. What is not known is left out.
std::string resources_text(const Report& report, const Screen& screen);

}  // namespace foretrain::cli
