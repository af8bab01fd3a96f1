// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/number_range.h"

#include <cstdlib>
#include <sstream>

#include "foretrain/base/near.h"

namespace foretrain {

std::function<std::string(const std::string&)> number_range(double least, double most) {
  return [least, most](const std::string& text) -> std::string {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const bool whole = !text.empty() && *end == '\0';
    if (whole && value >= least && value <= most) return "";  // NaN is neither
    std::ostringstream message;
    message << "'" << printable(text) << "' is not a number from " << least << " to " << most;
    return message.str();
  };
}

}  // namespace foretrain
