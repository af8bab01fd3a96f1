// SPDX-License-Identifier: Apache-2.0
// What every fit of an inspector does with its examples.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foretrain/knowledge/inspector_model.h"
#include "foretrain/train/inspector_examples.h"
#include "foretrain/train/share.h"

namespace foretrain::train {

using Rows = std::vector<const InspectorExample*>;

std::optional<std::size_t> feature_named(const inspector::Features& features,
                                         std::string_view name);

// What was measured of a target by its name: the step, a number of a resource that alternates, the
// memory used. Absent where it was not, is not above 0, or the example is of another role.
std::optional<double> measured_target(const InspectorExample& example, std::string_view name);

// Examples of these settings (none: of all) outside of the test split. Throws Error(BadInput) where
// they are of fewer architectures than folds.
Rows rows_for_training(const std::vector<InspectorExample>& examples,
                       const std::vector<std::string>& settings, std::size_t folds);

// The examples of a share of the architectures, of at least so many; `used` says what became of it.
Rows draw(const Rows& rows, const Share& share, std::size_t least, UsedShare& used);

// Architectures in folds of equal size, by the order in which they were first measured.
std::map<std::string, std::size_t> folds_of(const Rows& rows, std::size_t folds);

// The ends between which a further example of the same kind lies with this probability at least:
// split conformal, a tail on either side; the extremes where there are too few. At least one.
std::pair<double, double> interval_ends(const std::vector<double>& differences, double confidence);

// Where the measured jobs lie in what decides how a job uses its resources; a margin of a tenth of
// the range belongs to it.
std::vector<FeatureRange> domain_of(const Rows& rows);

}  // namespace foretrain::train
