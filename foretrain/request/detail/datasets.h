// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace foretrain {

// Number of training samples of a well-known data set. Throws Error(NotFound) with near matches.
double dataset_samples(const std::string& name);

}  // namespace foretrain
