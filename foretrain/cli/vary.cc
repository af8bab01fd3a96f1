// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/vary.h"

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/cli/predict_many.h"
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

Variant predict_variant(const RequestOptions& options, const std::string& field,
                        const std::string& value, const Library& library) {
  Variant variant{value, "", std::nullopt, "", ""};
  try {
    if (value.empty()) throw Error(ErrorKind::BadInput, "--vary: a value is empty");
    variant.request_json = options.json_with(field, value);
    variant.report = predict(parse_request(variant.request_json, "predict"), library);
  } catch (const Error& error) {
    variant.error = error.what();
    variant.error_json = error_json(error);
  }
  return variant;
}

// The value as its field holds it, or the text where it makes no request.
OrderedJson value_json(const Variation& variation, const Variant& variant) {
  if (variant.request_json.empty()) return variant.value;
  OrderedJson value = OrderedJson::parse(variant.request_json);
  for (const std::string& key : split(variation.field, '.')) value = OrderedJson(value[key]);
  return value;
}

}  // namespace

Variation vary(const RequestOptions& options, const std::string& text, const Library& library) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw Error(ErrorKind::BadInput,
                "--vary: '" + printable(text) + "' is not KEY=A,B,C; e.g. --vary batch=32,64,128");
  }
  Variation variation{options.field_named(text.substr(0, equals)), {}};
  Progress progress("values");
  const std::vector<std::string> values = split_values(text.substr(equals + 1));
  for (const std::string& value : values) {
    variation.variants.push_back(predict_variant(options, variation.field, value, library));
    const std::size_t done = variation.variants.size();
    progress.show(done, static_cast<double>(done) / static_cast<double>(values.size()));
  }
  return variation;
}

std::string variation_json(const Variation& variation) {
  OrderedJson list = OrderedJson::array();
  for (const Variant& variant : variation.variants) {
    OrderedJson entry;
    entry[variation.field] = value_json(variation, variant);
    if (variant.report) {
      entry["report"] = OrderedJson::parse(to_json(*variant.report));
    } else {
      entry["error"] = OrderedJson::parse(variant.error_json)["error"];
    }
    list.push_back(std::move(entry));
  }
  return list.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace foretrain::cli
