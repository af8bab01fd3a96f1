// SPDX-License-Identifier: Apache-2.0
// One request with many values of one field, side by side.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/base/error.h"
#include "foretrain/base/seconds.h"
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

// The field that a user calls `key` ("batch", "strategy.servers" or "servers" alone, dashes
// allowed), as JSON names it. Throws Error(BadInput) where there is none, listing near matches.
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

// Whether a job ends in time by its prediction, not by the upper end of the interval.
bool is_within(const Variant& variant, Seconds deadline);

// Which of the variants that end in time costs least, the first of equals; absent where none ends
// in time. Throws Error(BadInput) where those that do have no cost, because no price is known, and
// where the jobs have no length at all.
std::optional<std::size_t> cheapest_within(const Variation& variation, Seconds deadline);

// [{"FIELD": value, "report": {...}}, ...] with "error" instead of "report" where there is none;
// with a deadline also whether each is "within_deadline" and which is "cheapest".
std::string to_json(const Variation& variation, std::optional<Seconds> deadline = {});

}  // namespace foretrain
