// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace foretrain::sched {

// Maximise objective x over x >= 0 where every row is at most its limit.
struct LinearProgram {
  struct Term {
    int variable = 0;
    double factor = 0;
  };
  struct Row {
    std::vector<Term> terms;
    double limit = 0;
  };
  std::vector<double> objective;  // one number per variable
  std::vector<Row> rows;
};

// The best x, by the simplex method of COIN-OR's Clp. The programme must be feasible (x = 0 is,
// where no limit is negative) and bounded. Throws Error(BadInput) for numbers that
// are not finite, Error(Io) where Clp cannot be loaded or gives up.
std::vector<double> solve(const LinearProgram& program);

}  // namespace foretrain::sched
