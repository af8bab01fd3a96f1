// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "foretrain/cli/output.h"
#include "foretrain/evaluate/resources.h"

namespace foretrain::cli {

// `evaluate --resources`: predicted bursts and idles against measured ones, a row per setting, role
// and resource; every number to `rows`, where that is wanted.
void show_resources(const std::string& data, evaluate::ResourceOptions options,
                    const Library& library, bool json, Output& rows, Console& console);

}  // namespace foretrain::cli
