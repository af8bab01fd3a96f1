// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/knowledge/intervals.h"

namespace foretrain::operators {

// Why a case lies outside what was measured, one sentence each: a device, precision, framework or
// mode without any measurement of such models, or more devices than in any. The last sentence
// names the nearest measured cases. Empty where the case lies inside, or nothing is known.
std::vector<std::string> domain_warnings(const Intervals& intervals, const MeasuredCase& asked);

// The measured cases most like this one, the nearest first, at most `most`; of each model and
// device one.
std::vector<const MeasuredCase*> nearest_cases(const Intervals& intervals,
                                               const MeasuredCase& asked, std::size_t most);

}  // namespace foretrain::operators
