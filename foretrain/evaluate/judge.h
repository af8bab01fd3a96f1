// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "foretrain/evaluate/cases.h"
#include "foretrain/evaluate/prediction_cache.h"

namespace foretrain::evaluate {

// A row on its way from the file to the summary.
struct Waiting {
  Case one;
  std::size_t number = 0;  // of measured::report_numbers(), where there is a request
};

// Predicts the rows that have a request and compares them.
void judge(const std::vector<Waiting*>& rows, PredictionCache& cache);

}  // namespace foretrain::evaluate
