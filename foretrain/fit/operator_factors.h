// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/cost/constants.h"
#include "foretrain/hw/catalog.h"
#include "foretrain/knowledge/calibration.h"
#include "foretrain/measured/operator_file.h"

namespace foretrain::fit {

struct OperatorFactors {
  Calibration calibration;
  double before = 0;  // mean of |ln(predicted / measured)|, weighted by measured time
  double after = 0;
};

// How fast a device is by operators that were timed on it while a model trained: the factors of
// compute, memory and, of a CPU, calls that make `after` least. A weak prior keeps at 1 what the
// operators do not decide. All cases must run on `device`; `catalog` must know its name.
OperatorFactors factors_by_operators(const measured::OperatorCases& cases, const hw::Device& device,
                                     const cost::OperatorModel& model, const hw::Catalog& catalog);

}  // namespace foretrain::fit
