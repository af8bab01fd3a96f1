// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace foretrain {

// Number of training samples of a well-known data set. Throws Error(NotFound) with near matches.
double dataset_samples(const std::string& name);

// Height times width of its photographs as they are stored, on average; 0 where it has none, or
// where they lie in memory as arrays.
double dataset_pixels(const std::string& name);

}  // namespace foretrain
