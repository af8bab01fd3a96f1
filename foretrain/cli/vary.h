// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/cli/console.h"
#include "foretrain/cli/request_options.h"
#include "foretrain/knowledge/library.h"
#include "foretrain/predict/vary.h"

namespace foretrain::cli {

// A variation and what the user wrote for each of its values.
struct Varied {
  Variation variation;
  std::vector<std::string> texts;
};

// Predicts the job once for each value of `text`, "KEY=A,B,C": values are separated by
// semicolons where there is one outside brackets, else by commas. Throws Error(BadInput) for
// text of another form and an unknown key; what is wrong with a value is kept with it.
Varied vary(const RequestOptions& options, const std::string& text, const Library& library);

// Side by side: a column per value, and beside each number the change against the first.
std::string varied_text(const Varied& varied, const Screen& screen);

// Which value ends in time at the least cost, in a sentence. Throws as cheapest_within does.
std::string cheapest_text(const Varied& varied, Seconds deadline, const Screen& screen);

}  // namespace foretrain::cli
