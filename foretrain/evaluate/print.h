// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "foretrain/evaluate/cases.h"

namespace foretrain::evaluate {

// The evaluation as one line of JSON; errors in percent.
std::string to_json(const Evaluation& evaluation);

// One line per case for a CSV file, without the line break.
std::string rows_header();
std::string rows_line(const Case& one);

}  // namespace foretrain::evaluate
