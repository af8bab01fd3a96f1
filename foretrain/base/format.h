// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace foretrain {

// What std::printf would print.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

}  // namespace foretrain
