// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace foretrain {

// A check of an option's text: "" for a number from `least` to `most`, which NaN is not, else what
// is wrong.
std::function<std::string(const std::string&)> number_range(double least, double most);

}  // namespace foretrain
