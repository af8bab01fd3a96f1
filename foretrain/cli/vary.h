// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "foretrain/cli/console.h"
#include "foretrain/cli/request_options.h"
#include "foretrain/knowledge/library.h"
#include "foretrain/predict/report.h"

namespace foretrain::cli {

// One value of the varied field and what came of it.
struct Variant {
  std::string value;         // as the user wrote it
  std::string request_json;  // "" where the value does not make a request
  std::optional<Report> report;
  std::string error;       // the message where there is no report
  std::string error_json;  // likewise
};

struct Variation {
  std::string field;
  std::vector<Variant> variants;
};

// Predicts the job once for each value of `text`, "KEY=A,B,C": values are separated by
// semicolons where there is one outside brackets, else by commas. Throws Error(BadInput) for
// text of another form and an unknown key; what is wrong with a value is kept with it.
Variation vary(const RequestOptions& options, const std::string& text, const Library& library);

// [{"KEY": value, "report": {...}}, ...] with "error" instead of "report" where there is none.
std::string variation_json(const Variation& variation);

// Side by side: a column per value, and beside each number the change against the first.
std::string variation_text(const Variation& variation, const Screen& screen);

}  // namespace foretrain::cli
