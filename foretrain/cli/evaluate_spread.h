// SPDX-License-Identifier: Apache-2.0
// The pieces of an evaluation that is spread over machines: each is one request.
#pragma once

#include <string>

#include "foretrain/cli/console.h"
#include "foretrain/evaluate/cases.h"

namespace foretrain::cli {

// Every request that is to be predicted, once, on a line of its own.
void list_requests(const std::string& data, evaluate::Options options, const Library& library,
                   Console& console);

// Predicts the requests of standard input, each to a line.
void predict_listed(const Library& library, Console& console);

// What was predicted so: the lines of standard input.
evaluate::KnownPrediction predicted_elsewhere();

}  // namespace foretrain::cli
