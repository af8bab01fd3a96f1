// SPDX-License-Identifier: Apache-2.0
// What a framework costs besides its operators, from measured steps of several models.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "foretrain/cost/framework.h"
#include "foretrain/knowledge/library.h"
#include "foretrain/measured/measured_step.h"

namespace foretrain::fit {

struct FrameworkFit {
  std::vector<std::string> without;  // models whose rows are not used, in the measurements' words
  std::size_t rows = 20;             // of each model, as `evaluate --calibrate` chooses them
  int evaluations = 200;
  // How far numbers may lie from where they start, and steps from predictions: as CalibrationFit.
  double usual = 0.5;
  double noise = 0.08;
};

// Steps of that framework among the rows of `file` (CSV) whose metric is step_time. Throws Error:
// NotFound where there is none, what evaluate throws.
std::vector<measured::MeasuredStep> framework_steps(const std::filesystem::path& file,
                                                    const std::string& framework,
                                                    const FrameworkFit& options,
                                                    const Library& library);

struct FittedFramework {
  cost::Framework framework;
  double before = 0;  // mean of |ln(predicted / measured)|
  double after = 0;
};

// The framework's numbers (cost::framework_numbers) that make the steps most probable, from where
// they are now; those that are 0 stay. Deviations count by their size, not its square, so that a
// model which something else slows down does not decide. Throws what predictions throw.
FittedFramework fit_framework(const std::string& framework,
                              const std::vector<measured::MeasuredStep>& steps,
                              const FrameworkFit& options, const Library& library);

}  // namespace foretrain::fit
