// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace foretrain {

// The middle number, of an even count the mean of the two in the middle. Needs one or more, none
// of them NaN.
double median(std::vector<double> values);

}  // namespace foretrain
