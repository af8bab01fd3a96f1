// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "foretrain/knowledge/scaling_model.h"
#include "foretrain/request/resolve.h"

namespace foretrain::scaling {

// A variable of a scaling model (scaling_variables()) in a request; absent where the request does
// not say it. `time`: of what; it decides which samples count.
std::optional<double> value_of(std::string_view variable, const Resolved& resolved, TimeOf time);

// Steps in the time that is meant: 1, those of an epoch, those of the job; absent likewise.
std::optional<double> steps_in(TimeOf time, const Resolved& resolved);

}  // namespace foretrain::scaling
