// SPDX-License-Identifier: Apache-2.0
// What a framework costs besides the operators, as a file that `foretrain fit framework` writes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "foretrain/cost/framework.h"

namespace foretrain::cost {

// A number of a framework that measurements can tell.
struct FrameworkNumber {
  const char* name;
  double Framework::*place;
};
std::span<const FrameworkNumber> framework_numbers();

inline constexpr const char* kFrameworkFormat = "foretrain-framework";

// The framework of that name with the file's numbers. Throws Error naming `where`: BadInput, and
// NotFound for a framework that is not known.
Framework read_framework(std::string_view text, const std::string& where);
std::string write_framework(const Framework& framework, std::span<const std::string> notes);

}  // namespace foretrain::cost
