// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/vary.h"

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/cli/progress.h"
#include "foretrain/cli/split.h"
#include "foretrain/predict/predict.h"

namespace foretrain::cli {
namespace {

std::vector<std::string> split_values(const std::string& text) {
  std::vector<std::string> values = split(text, ';');
  if (values.size() == 1) return split(text, ',');
  if (values.back().empty()) values.pop_back();  // "A,B;" is the one value "A,B"
  return values;
}

// What the user wrote as the JSON that its field holds, or why it is none.
Variant read_value(const RequestOptions& options, const std::string& field,
                   const std::string& text) {
  try {
    if (text.empty()) throw Error(ErrorKind::BadInput, "--vary: a value is empty");
    return {options.value_json(field, text), {}, {}};
  } catch (const Error& error) {
    return {json_text(Json(text)), {}, error};
  }
}

}  // namespace

Varied vary(const RequestOptions& options, const std::string& text, const Library& library) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw Error(ErrorKind::BadInput,
                "--vary: '" + printable(text) + "' is not KEY=A,B,C; e.g. --vary batch=32,64,128");
  }
  const std::string field = find_field(text.substr(0, equals));
  const std::vector<std::string> texts = split_values(text.substr(equals + 1));
  std::vector<Variant> variants;
  for (const std::string& value : texts) variants.push_back(read_value(options, field, value));
  Progress progress("values");
  const auto all = static_cast<double>(texts.size());
  Variation variation = predict_variants(
      options.json(), field, std::move(variants),
      [&](const Request& one) { return predict(one, library); },
      [&](std::size_t done) { progress.show(done, static_cast<double>(done) / all); });
  return {std::move(variation), texts};
}

}  // namespace foretrain::cli
