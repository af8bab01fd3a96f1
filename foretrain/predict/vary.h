// SPDX-License-Identifier: Apache-2.0
// One request with many values of one field, side by side.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/base/error.h"
#include "foretrain/predict/report.h"
#include "foretrain/request/request.h"

namespace foretrain {

// One value of the field and what came of it: a report, or what is wrong.
struct Variant {
  std::string value;  // JSON
  std::optional<Report> report;
  std::optional<Error> error;
};

struct Variation {
  std::string field;
  std::string request;  // JSON of what the variants have in common
  std::vector<Variant> variants;
};

// The field that a user calls `key` ("batch", "strategy.servers", dashes allowed), as JSON names
// it. Throws Error(BadInput) where there is none, listing near matches.
std::string find_field(const std::string& key);

// `request` without the field that find_field returned.
std::string without_field(const std::string& request, const std::string& field);

using Predict = std::function<Report(const Request&)>;

// Predicts `request` (JSON) with the field set to `value` (JSON). What is wrong is kept.
Variant predict_variant(const std::string& request, const std::string& field,
                        const std::string& value, const Predict& predict);

// The same for each value. Throws Error(BadInput) for a key that is none and a request that is no
// JSON object.
Variation vary(const std::string& request, const std::string& key,
               const std::vector<std::string>& values, const Predict& predict);

// [{"FIELD": value, "report": {...}}, ...] with "error" instead of "report" where there is none.
std::string to_json(const Variation& variation);

}  // namespace foretrain
