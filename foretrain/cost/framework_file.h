// SPDX-License-Identifier: Apache-2.0
// Frameworks as a file: data/predictors/frameworks.json has those in use, `foretrain fit framework`
// writes one, a user may add another.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/cost/framework.h"

namespace foretrain::cost {

// A number of a framework that measured steps can tell.
struct FrameworkNumber {
  const char* name;
  double Framework::*place;
};
std::span<const FrameworkNumber> framework_numbers();

inline constexpr std::string_view kFrameworksFormat = "foretrain-frameworks";

// Every framework of the file; a field that it leaves out has the default of struct Framework.
// Throws Error(BadInput) naming `where`.
std::vector<Framework> read_frameworks(std::string_view text, const std::string& where);

// Fields that have their default are left out.
std::string write_frameworks(std::span<const Framework> frameworks,
                             std::span<const std::string> notes);

// One framework with every field, as JSON.
std::string framework_json(const Framework& framework);

}  // namespace foretrain::cost
