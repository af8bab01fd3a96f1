// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/conformal.h"

#include <algorithm>
#include <cmath>

namespace foretrain::train {

std::optional<ConformalEnds> conformal_ends(std::vector<double> residuals, double confidence) {
  const auto count = static_cast<double>(residuals.size());
  const double tail = (1 - confidence) / 2;
  const double below = std::floor((count + 1) * tail + 1e-9);  // of the order, from 1 on
  if (below < 1) return std::nullopt;
  std::sort(residuals.begin(), residuals.end());
  const auto place = static_cast<std::size_t>(below) - 1;
  return ConformalEnds{residuals[place], residuals[residuals.size() - 1 - place]};
}

}  // namespace foretrain::train
