// SPDX-License-Identifier: Apache-2.0
// The constants of whole training steps from measured ones: host times, convolutions that
// were tuned, their gradients, tensor cores, batch norm and pooling.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "foretrain/cost/constants.h"
#include "foretrain/fit/fitted_group.h"
#include "foretrain/fit/machine.h"
#include "foretrain/knowledge/library.h"

namespace foretrain::fit {

struct StepsFit {
  std::vector<std::string> without;  // patterns of devices and models whose rows are not used
  int evaluations = 800;             // of all steps
  std::vector<std::string> vary{};   // patterns of constants besides those that steps decide
};

struct FittedSteps {
  FittedGroup group;
  std::map<std::string, Machine> machines;  // that each device sits in
};

// Fits the constants to the rows of `file` (a CSV file of training measurements that a mapping is
// known for) that are steps of one worker in fp32, TF32 or fp16, starting from `constants`, which
// it changes. The speed of each device's host is left open around 1, and host times are scaled so
// that the geometric mean of these speeds is 1. Throws Error: NotFound where no row is left; what
// `evaluate` throws.
FittedSteps fit_steps(const std::filesystem::path& file, const StepsFit& options,
                      const Library& library, cost::Constants& constants);

}  // namespace foretrain::fit
