// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

namespace foretrain {

// {"error": {"kind": ..., "message": ...}} on one line. What is not a foretrain::Error has the
// kind "Internal".
std::string error_json(const std::exception& error);

}  // namespace foretrain
