// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace foretrain {

// Every time in Foretrain. Convert only when reading or printing.
using Seconds = std::chrono::duration<double>;

}  // namespace foretrain
