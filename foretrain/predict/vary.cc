// SPDX-License-Identifier: Apache-2.0
#include "foretrain/predict/vary.h"

#include <algorithm>

#include "foretrain/base/error_json.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/request/request_fields.h"

namespace foretrain {
namespace {

constexpr std::string_view kOfStrategy = "strategy.";

// Where the field is, or would be: in the request or in its strategy, which may be only a name.
Json& holder_of(const std::string& field, Json& request) {
  if (!field.starts_with(kOfStrategy)) return request;
  Json& strategy = request["strategy"];
  if (strategy.is_string()) strategy = Json{{"kind", strategy}};
  return strategy;
}

std::string name_of(const std::string& field) {
  return field.starts_with(kOfStrategy) ? field.substr(kOfStrategy.size()) : field;
}

Json parse_object(const std::string& request) {
  Json object = parse_json(request, "request");
  if (!object.is_object()) throw Error(ErrorKind::BadInput, "request: is no JSON object");
  return object;
}

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void predict_variant(const std::string& request, const std::string& field, const Predict& predict,
                     Variant& variant) {
  try {
    Json object = parse_object(request);
    Json& holder = holder_of(field, object);
    if (holder.is_null() || holder.is_object()) {  // else parse_request says what is wrong
      holder[name_of(field)] = parse_json(variant.value, field);
    }
    variant.report = predict(parse_request(dumped(object), "predict"));
  } catch (const Error& error) {
    variant.error = error;
  }
}

}  // namespace

std::string find_field(const std::string& key) {
  std::string wanted = key;
  std::replace(wanted.begin(), wanted.end(), '-', '_');
  std::vector<std::string> known;
  for (const RequestField& field : request_fields()) known.emplace_back(field.name);
  for (const RequestField& field : strategy_fields()) {
    known.push_back(std::string(kOfStrategy) + std::string(field.name));
  }
  if (std::find(known.begin(), known.end(), wanted) != known.end()) return wanted;
  throw Error(ErrorKind::BadInput,
              "a request has no field '" + printable(key) + "'" + did_you_mean(wanted, known));
}

std::string without_field(const std::string& request, const std::string& field) {
  Json object = parse_object(request);
  const bool inner = field.starts_with(kOfStrategy);
  if (inner && !object.contains("strategy")) return dumped(object);
  Json& holder = holder_of(field, object);
  if (holder.is_object()) holder.erase(name_of(field));
  if (inner && holder.empty()) object.erase("strategy");
  return dumped(object);
}

Variation predict_variants(const std::string& request, const std::string& key,
                           std::vector<Variant> variants, const Predict& predict,
                           const OnVariant& on_variant) {
  Variation variation;
  variation.field = find_field(key);
  variation.request = without_field(request, variation.field);
  variation.variants = std::move(variants);
  std::size_t done = 0;
  for (Variant& variant : variation.variants) {
    if (!variant.error) predict_variant(request, variation.field, predict, variant);
    ++done;
    if (on_variant) on_variant(done);
  }
  return variation;
}

Variation vary(const std::string& request, const std::string& key,
               const std::vector<std::string>& values, const Predict& predict) {
  std::vector<Variant> variants;
  for (const std::string& value : values) variants.push_back({value, std::nullopt, std::nullopt});
  return predict_variants(request, key, std::move(variants), predict);
}

std::string to_json(const Variation& variation) {
  OrderedJson list = OrderedJson::array();
  for (const Variant& variant : variation.variants) {
    OrderedJson entry;
    entry[variation.field] = OrderedJson::parse(variant.value, nullptr, false);
    if (entry[variation.field].is_discarded()) entry[variation.field] = variant.value;
    if (variant.report) {
      entry["report"] = OrderedJson::parse(to_json(*variant.report));
    } else {
      entry["error"] = OrderedJson::parse(error_json(*variant.error))["error"];
    }
    list.push_back(std::move(entry));
  }
  return list.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace foretrain
