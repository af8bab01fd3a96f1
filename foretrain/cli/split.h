// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrain::cli {

// The parts of `text` between separators that are outside brackets, braces and double quotes.
// Empty parts are kept: "a,,b" has three.
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace foretrain::cli
