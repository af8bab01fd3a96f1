// SPDX-License-Identifier: Apache-2.0
// Regressors as JSON, by their kind: {"kind": "linear", "intercept", "weights"}, {"kind": "trees",
// "data": base64 of hybrid_file's numbers}, {"kind": "kernel", ...}, {"kind": "dense", ...}.
#pragma once

#include <string>
#include <string_view>

#include "foretrain/learn/regressor.h"

namespace foretrain::learn {

std::string write_regressor(const Regressor& regressor);

// Throws Error(BadInput) naming `where` for what is no regressor of so many features.
Regressor read_regressor(std::string_view text, std::size_t features, const std::string& where);

}  // namespace foretrain::learn
