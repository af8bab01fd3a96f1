// SPDX-License-Identifier: Apache-2.0
// A change of a request as people type it.
#pragma once

#include <string>

#include "foretrain/request/request.h"

namespace foretrain {

// The fields in which `after` differs from `before` as options of the command: "--recompute full";
// what it does without: "without --input-rate".
std::string change_options(const Request& before, const Request& after);

// Whether `fewer`, fields that change as JSON, are all among those of `more`, with the same values.
bool is_part_of(const std::string& fewer, const std::string& more);

// The command that predicts the request, quoted for a shell: "foretrain predict resnet50 --batch
// 8".
std::string predict_command(const Request& request);

}  // namespace foretrain
