// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "foretrain/base/seconds.h"

namespace foretrain {

// A length of time as people write it: "90s", "15m", "12h", "2d", "1.5h"; without a unit seconds.
// Throws Error(BadInput) naming `where` for what is none, negative or longer than 1e9 days.
Seconds parse_duration(const std::string& text, const std::string& where);

}  // namespace foretrain
