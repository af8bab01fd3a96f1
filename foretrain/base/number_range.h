// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace foretrain {

// A check of an option's text, in the form that CLI11 takes: "" for a number from `least` to
// `most`, else what is wrong. Unlike CLI11's own ranges it refuses NaN.
std::function<std::string(const std::string&)> number_range(double least, double most);

}  // namespace foretrain
