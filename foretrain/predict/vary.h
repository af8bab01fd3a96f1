// SPDX-License-Identifier: Apache-2.0
// One request with many values of one field, side by side.
#pragma once

#include <cstddef>
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

// Told after each value: how many are done.
using OnVariant = std::function<void(std::size_t done)>;

// Predicts `request` (JSON) with the field that `key` names set to the value of each variant; what
// is wrong is kept with it, and a variant that has an error already stays as it is. Throws
// Error(BadInput) for a key that is none and a request that is no JSON object.
Variation predict_variants(const std::string& request, const std::string& key,
                           std::vector<Variant> variants, const Predict& predict,
                           const OnVariant& on_variant = {});

// The same for values as JSON.
Variation vary(const std::string& request, const std::string& key,
               const std::vector<std::string>& values, const Predict& predict);

// [{"FIELD": value, "report": {...}}, ...] with "error" instead of "report" where there is none.
std::string to_json(const Variation& variation);

}  // namespace foretrain
