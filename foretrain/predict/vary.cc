// SPDX-License-Identifier: Apache-2.0
#include "foretrain/predict/vary.h"

#include <algorithm>

#include "foretrain/base/error_json.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/request/request_fields.h"
#include "foretrain/request/usual_words.h"

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

void predict_variant(const std::string& request, const std::string& field, const Predict& predict,
                     Variant& variant) {
  try {
    Json object = parse_object(request);
    Json& holder = holder_of(field, object);
    if (holder.is_null() || holder.is_object()) {  // else parse_request says what is wrong
      holder[name_of(field)] = parse_json(variant.value, field);
    }
    variant.report = predict(parse_request(json_text(object), "predict"));
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
  const std::string inner = std::string(kOfStrategy) + wanted;  // an option of its own as well
  for (const std::string& name : {wanted, inner}) {
    if (std::find(known.begin(), known.end(), name) != known.end()) return name;
  }
  throw Error(ErrorKind::BadInput, "a request has no field '" + printable(key) + "'" +
                                       did_you_mean_field(wanted, known));
}

std::string without_field(const std::string& request, const std::string& field) {
  Json object = parse_object(request);
  const bool inner = field.starts_with(kOfStrategy);
  if (inner && !object.contains("strategy")) return json_text(object);
  Json& holder = holder_of(field, object);
  if (holder.is_object()) holder.erase(name_of(field));
  if (inner && holder.empty()) object.erase("strategy");
  return json_text(object);
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

bool is_within(const Variant& variant, Seconds deadline) {
  return variant.report && variant.report->total_time_s &&
         variant.report->total_time_s->value <= deadline.count();
}

std::optional<std::size_t> cheapest_within(const Variation& variation, Seconds deadline) {
  const std::vector<Variant>& variants = variation.variants;
  const bool ends = std::any_of(variants.begin(), variants.end(), [](const Variant& variant) {
    return variant.error || variant.report->total_time_s;
  });
  if (!ends) {
    throw Error(ErrorKind::BadInput,
                "a deadline needs the length of the job; give epochs with dataset or samples, "
                "steps, or tokens");
  }
  std::optional<std::size_t> best;
  bool any = false;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (!is_within(variants[i], deadline)) continue;
    any = true;
    const std::optional<Estimate>& cost = variants[i].report->cost_usd;
    if (cost && (!best || cost->value < variants[*best].report->cost_usd->value)) best = i;
  }
  if (any && !best) {
    throw Error(ErrorKind::BadInput,
                "no price is known for these devices; give price_per_device_hour");
  }
  return best;
}

std::string to_json(const Variation& variation, std::optional<Seconds> deadline) {
  const std::optional<std::size_t> cheapest =
      deadline ? cheapest_within(variation, *deadline) : std::nullopt;
  OrderedJson list = OrderedJson::array();
  for (const Variant& variant : variation.variants) {
    OrderedJson entry;
    entry[variation.field] = OrderedJson::parse(variant.value, nullptr, false);
    if (entry[variation.field].is_discarded()) entry[variation.field] = variant.value;
    if (variant.report) {
      entry["report"] = ordered_json(to_json(*variant.report));
    } else {
      entry["error"] = ordered_json(error_json(*variant.error))["error"];
    }
    if (deadline) {
      entry["within_deadline"] = is_within(variant, *deadline);
      entry["cheapest"] = cheapest == list.size();
    }
    list.push_back(std::move(entry));
  }
  return json_text(list);
}

}  // namespace foretrain
