// SPDX-License-Identifier: Apache-2.0
// The constants of the operator model from measured operators.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "foretrain/cost/constants.h"
#include "foretrain/fit/fitted_group.h"
#include "foretrain/fit/operator_fit.h"
#include "foretrain/hw/catalog.h"

namespace foretrain::fit {

struct FittedOperators {
  cost::Constants constants;
  std::vector<FittedGroup> groups;
};

// Fits the groups of constants for which `data` (a store, a folder, a file: measured/open_tables.h)
// has rows, one after another from `start`. Rows of the test split are never used. Throws Error:
// NotFound where there is none, BadInput, Io. `on_group` hears of each group when it is done.
FittedOperators fit_operators(const std::filesystem::path& data, const cost::Constants& start,
                              const OperatorFit& options, const hw::Catalog& catalog,
                              const std::function<void(const FittedGroup&)>& on_group);

}  // namespace foretrain::fit
