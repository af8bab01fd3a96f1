// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace foretrain {

// How far the largest of `count` normally distributed numbers is expected above their mean, in
// standard deviations; 0 for one. Blom's approximation, the quantile (n - 3/8) / (n + 1/4): up
// to 5 % too large for two, 1 % from eight on. Needs count >= 1.
// Source: Blom, Statistical Estimates and Transformed Beta-Variables, 1958.
double expected_largest(double count);

}  // namespace foretrain
