// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "foretrain/cli/console.h"
#include "foretrain/evaluate/ways.h"

namespace foretrain::cli {

// `evaluate --ways`: every source by plain, informed and calibrated requests, as one table or JSON.
void show_ways(const std::string& data, const evaluate::WaysOptions& options,
               const Library& library, bool json, Console& console);

}  // namespace foretrain::cli
