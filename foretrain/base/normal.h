// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace foretrain {

// How far the largest of `count` normally distributed numbers is expected above their mean, in
// standard deviations; 0 for one. Blom's approximation, the quantile (n - 3/8) / (n + 1/4): up
// to 5 % too large for two, 1 % from eight on. Needs count >= 1.
// Source: Blom, Statistical Estimates and Transformed Beta-Variables, 1958.
double expected_largest(double count);

// Of a normal distribution, in standard deviations above its mean: what a share of all lies below,
// and the share that lies below something. The share is above 0 and below 1.
double normal_quantile(double share);
double normal_share(double deviations);

}  // namespace foretrain
