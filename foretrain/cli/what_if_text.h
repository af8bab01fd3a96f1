// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "foretrain/cli/console.h"
#include "foretrain/predict/what_if.h"

namespace foretrain::cli {

// The job as it is, the changes with what they gain, and how each is typed.
std::string what_if_text(const WhatIfs& what_ifs, const Screen& screen);

}  // namespace foretrain::cli
