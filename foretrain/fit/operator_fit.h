// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace foretrain::fit {

// How the constants of operators are fitted, on GPUs and CPUs.
struct OperatorFit {
  std::vector<std::string> without;  // devices (their catalog names) whose rows are not used
  std::size_t most_rows = 24'000;    // of each file; evenly chosen
  int evaluations = 800;             // of the loss, for each group of constants
  std::vector<std::string> vary{};   // patterns of constants that each group varies besides its own
};

}  // namespace foretrain::fit
