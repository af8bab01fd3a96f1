// SPDX-License-Identifier: Apache-2.0
// The constants of PyTorch's operators on a CPU from what `foretrain collect operators` timed.
#pragma once

#include "foretrain/cost/constants.h"
#include "foretrain/fit/fitted_group.h"
#include "foretrain/fit/operator_fit.h"
#include "foretrain/hw/catalog.h"
#include "foretrain/knowledge/calibration.h"
#include "foretrain/measured/operator_file.h"

namespace foretrain::fit {

// How fast the machine is that the operators were timed on: compute by what nearly the best GEMM
// reaches, memory by large memory-bound operators, calls by small ones. What GEMMs reach of the
// peak, and such calls, are the measure of all others, so they are not fitted.
Calibration machine_of(const measured::OperatorCases& cases, const cost::Constants& constants,
                       const hw::Catalog& catalog);

// Fits the classes of CpuConstants one after another.
std::vector<FittedGroup> fit_cpu(const measured::OperatorCases& cases, const OperatorFit& options,
                                 const hw::Catalog& catalog, cost::Constants& constants);

}  // namespace foretrain::fit
