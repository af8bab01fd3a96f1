// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace foretrain::fit {

// How well one group of constants describes its rows: mean of |ln(predicted / measured)| over
// operators or steps and devices, before and after.
struct FittedGroup {
  std::string name;
  std::size_t rows = 0;
  std::size_t constants = 0;
  double before = 0;
  double after = 0;
};

}  // namespace foretrain::fit
