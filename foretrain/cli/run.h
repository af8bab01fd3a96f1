// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace foretrain::cli {

inline constexpr const char* kVersion = "0.1.0";

// The whole command `foretrain`: reads the arguments, runs one command, turns errors into one
// line on standard error. Returns the exit code: 0; 2 for what the caller must change; 1 else.
int run(int count, const char* const* arguments);

}  // namespace foretrain::cli
