// SPDX-License-Identifier: Apache-2.0
#include "foretrain/knowledge/embedding_model.h"

#include <algorithm>
#include <cmath>

#include "foretrain/base/base64.h"
#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/learn/checksum.h"
#include "foretrain/learn/regressor_file.h"

namespace foretrain {
namespace {

constexpr int kVersion = 1;
constexpr double kLeastTime = 1e-6;  // seconds
constexpr double kMostTime = 1e12;
constexpr double kWidest = 50;  // an end of an interval, as a logarithm

[[noreturn]] void bad(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::BadInput, where + ": " + what);
}

// Lists of the places of features.
learn::FeatureMap read_products(JsonFields& fields, std::size_t features) {
  learn::FeatureMap map;
  for (const Json& one : fields.required_list("products")) {
    learn::Product product;
    for (const Json& place : one) {
      if (!place.is_number_unsigned() || place.get<std::size_t>() >= features) {
        bad(fields.where(), "'products' names a feature that is not there");
      }
      product.push_back({place.get<std::size_t>(), learn::TermKind::Raw});
    }
    map.features.push_back(std::move(product));
  }
  return map;
}

EmbeddingForm read_form(JsonFields& fields, const EmbeddingModel& model) {
  EmbeddingForm form;
  form.map = read_products(fields, model.features.size());
  form.regressor = learn::read_regressor(json_text(fields.require("regressor")),
                                         form.map.features.size(), fields.where());
  const learn::Regressor law =
      learn::read_regressor(json_text(fields.require("law")), model.terms.size(), fields.where());
  const auto* linear = std::get_if<learn::LinearModel>(&law);
  const auto negative = [](double weight) { return weight < 0; };
  if (linear == nullptr || negative(linear->intercept) ||
      std::any_of(linear->weights.begin(), linear->weights.end(), negative)) {
    bad(fields.where(), "'law' is no sum of terms with weights that are not negative");
  }
  form.law = *linear;
  return form;
}

void read_interval(JsonFields& fields, EmbeddingModel& model) {
  model.low = fields.number("low");
  model.high = fields.number("high");
  if (model.low.has_value() != model.high.has_value()) bad(fields.where(), "half an interval");
  if (model.low &&
      !(*model.low <= *model.high && *model.low >= -kWidest && *model.high <= kWidest)) {
    bad(fields.where(), "its interval is none");
  }
  model.confidence = fields.required_number("confidence");
  if (!(model.confidence > 0 && model.confidence < 1)) {
    bad(fields.where(), "'confidence' is no probability");
  }
}

EmbeddingRange read_range(const Json& json, std::size_t features, const std::string& where) {
  JsonFields fields(json, where + ", 'domain'");
  const auto feature = fields.integer("feature");
  const EmbeddingRange range{static_cast<std::size_t>(feature.value_or(-1)),
                             {fields.required_number("least"), fields.required_number("most")}};
  fields.finish();
  if (range.feature >= features || range.range.least > range.range.most) {
    bad(where, "'domain' names a feature that is not there, or an empty range");
  }
  return range;
}

std::size_t count(JsonFields& fields, const char* key) {
  return static_cast<std::size_t>(std::clamp(fields.required_number(key), 0.0, 1e15));
}

void read_domain(JsonFields& fields, EmbeddingModel& model) {
  for (const Json& one : fields.required_list("words")) {
    JsonFields words(one, fields.where() + ", 'words'");
    model.words.push_back({words.required_text("field"), words.required_texts("words")});
    words.finish();
  }
  for (const Json& one : fields.required_list("domain")) {
    model.domain.push_back(read_range(one, model.features.size(), fields.where()));
  }
  model.reach = fields.required_number("reach");
  model.width = count(fields, "width");
  try {
    model.networks = floats_from_base64(fields.required_text("networks"));
  } catch (const Error& error) {
    bad(fields.where(), error.what());
  }
  const bool finite = std::all_of(model.networks.begin(), model.networks.end(),
                                  [](float value) { return std::isfinite(value); });
  if (model.width == 0 || model.networks.empty() || model.networks.size() % model.width != 0 ||
      !finite || !(model.reach >= 0)) {
    bad(fields.where(), "'networks' is no table of embeddings");
  }
}

void read_head(JsonFields& fields, EmbeddingModel& model) {
  const std::optional<TimeOf> time = time_of_named(fields.required_text("time"));
  if (!time) bad(fields.where(), "'time' is none of step, epoch, total");
  model.time = *time;
  const std::string target = fields.required_text("target");
  if (target != "plain" && target != "residual") {
    bad(fields.where(), "'target' is neither plain nor residual");
  }
  model.residual = target == "residual";
  model.embedding = static_cast<std::uint32_t>(fields.integer("embedding").value_or(0));
  model.constants = fields.required_text("constants");
  model.method = fields.required_text("method");
  model.error = fields.required_number("error");
  model.rows = count(fields, "rows");
  model.families = count(fields, "families");
  model.features = fields.required_texts("features");
  model.terms = fields.required_texts("terms");
}

// Of all but the notes, which may be edited: keys sorted.
std::uint32_t sum_of(Json file) {
  file.erase("notes");
  file.erase("checksum");
  return learn::checksum(json_text(file));
}

OrderedJson domain_json(const EmbeddingModel& model) {
  OrderedJson domain = OrderedJson::array();
  for (const EmbeddingRange& one : model.domain) {
    domain.push_back(
        {{"feature", one.feature}, {"least", one.range.least}, {"most", one.range.most}});
  }
  return domain;
}

OrderedJson products_json(const learn::FeatureMap& map) {
  OrderedJson products = OrderedJson::array();
  for (const learn::Product& product : map.features) {
    OrderedJson places = OrderedJson::array();
    for (const learn::Term& term : product) places.push_back(term.variable);
    products.push_back(std::move(places));
  }
  return products;
}

}  // namespace

double time_s(const EmbeddingForm& form, std::span<const double> terms,
              std::span<const double> features, std::optional<double> base_s) {
  const double base = base_s ? *base_s : learn::evaluate(learn::Regressor(form.law), terms);
  const double ratio = learn::evaluate(form.regressor, learn::evaluate(form.map, features));
  return std::clamp(base * std::exp(ratio), kLeastTime, kMostTime);
}

EmbeddingModel read_embedding_model(std::string_view text, const std::string& where) {
  const Json file = parse_json(text, where);
  JsonFields fields(file, where);
  if (fields.required_text("format") != kEmbeddingModelFormat ||
      fields.required_number("version") != kVersion) {
    bad(where, "not an embedding model of version 1; `foretrain fit embedding` writes one");
  }
  fields.ignore("notes");
  if (fields.integer("checksum") != static_cast<std::int64_t>(sum_of(file))) {
    bad(where, "its checksum is missing or wrong; the file is damaged, write it anew");
  }
  EmbeddingModel model;
  read_head(fields, model);
  read_interval(fields, model);
  read_domain(fields, model);
  model.form = read_form(fields, model);
  fields.finish();
  return model;
}

std::string write_embedding_model(const EmbeddingModel& model, std::span<const std::string> notes) {
  OrderedJson file{{"format", kEmbeddingModelFormat},
                   {"version", kVersion},
                   {"notes", std::vector<std::string>(notes.begin(), notes.end())},
                   {"time", name_of(model.time)},
                   {"target", model.residual ? "residual" : "plain"},
                   {"embedding", model.embedding},
                   {"constants", model.constants},
                   {"method", model.method},
                   {"error", model.error},
                   {"rows", model.rows},
                   {"families", model.families},
                   {"confidence", model.confidence}};
  if (model.low) file["low"] = *model.low;
  if (model.high) file["high"] = *model.high;
  file["features"] = model.features;
  file["terms"] = model.terms;
  file["words"] = OrderedJson::array();
  for (const EmbeddingWords& one : model.words) {
    file["words"].push_back({{"field", one.field}, {"words", one.words}});
  }
  file["domain"] = domain_json(model);
  file["reach"] = model.reach;
  file["width"] = model.width;
  file["networks"] = base64(std::span<const float>(model.networks));
  file["law"] = ordered_json(learn::write_regressor(model.form.law));
  file["products"] = products_json(model.form.map);
  file["regressor"] = ordered_json(learn::write_regressor(model.form.regressor));
  file["checksum"] = sum_of(parse_json(json_text(file)));
  return json_text(file) + "\n";
}

}  // namespace foretrain
