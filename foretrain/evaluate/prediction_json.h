// SPDX-License-Identifier: Apache-2.0
// Predictions as lines of JSON, for those that are made on other machines.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "foretrain/evaluate/prediction_cache.h"

namespace foretrain::evaluate {

// One line, numbers in full: read back it is the same prediction. Of one with a number that JSON
// does not have only the request is told.
std::string prediction_json(const std::string& request, const Prediction& prediction);

struct AnsweredRequest {
  std::string request;
  std::optional<Prediction> prediction;  // absent: to be made by the reader
};

// Throws Error(BadInput) naming `where`.
AnsweredRequest parse_prediction(const std::string& line, const std::string& where);

}  // namespace foretrain::evaluate
