// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

namespace foretrain::train {

// Ends that hold the next of such residuals with the confidence, by their order (split conformal
// prediction); absent where there are too few to say. Of one workload; fit/conformal.h knows
// sources.
struct ConformalEnds {
  double low = 0;
  double high = 0;
};
std::optional<ConformalEnds> conformal_ends(std::vector<double> residuals, double confidence);

}  // namespace foretrain::train
