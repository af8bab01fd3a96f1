// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace foretrain::evaluate {

// All take relative errors, predicted / measured - 1, and return fractions (0.1 is 10 %).
// An empty list gives 0.

double mape(std::span<const double> errors);        // mean of the absolute values
double median_ape(std::span<const double> errors);  // of the absolute values
double bias(std::span<const double> errors);        // mean with signs; above 0: predicted too high

}  // namespace foretrain::evaluate
