// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "foretrain/predict/detail/choose.h"
#include "foretrain/predict/report.h"

namespace foretrain {

// The chosen numbers with all that follows from them.
Report make_report(const std::vector<Chosen>& chosen, const Question& question);

// Epoch, total time and cost, from the step time and the job's length.
void report_length(const Question& question, Report& report);

}  // namespace foretrain
