// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/request_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/split.h"

namespace foretrain::cli {
namespace {

[[noreturn]] void bad(const std::string& what) { throw Error(ErrorKind::BadInput, what); }

std::string dashed(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

std::string underscored(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

// A whole number stays one, so that the reader can tell 3 from 3.5.
std::optional<Json> number(std::string_view text) {
  const char* end = text.data() + text.size();
  std::int64_t whole = 0;
  const auto as_whole = std::from_chars(text.data(), end, whole);
  if (as_whole.ec == std::errc() && as_whole.ptr == end) return Json(whole);
  double real = 0;
  const auto as_real = std::from_chars(text.data(), end, real);
  if (as_real.ec != std::errc() || as_real.ptr != end || !std::isfinite(real)) return std::nullopt;
  return Json(real);
}

// A value whose type nobody states: true, false, a number, JSON, or else text.
Json guess(const std::string& text, const std::string& where) {
  if (text.starts_with("[") || text.starts_with("{")) return parse_json(text, where);
  if (text == "true") return true;
  if (text == "false") return false;
  return number(text).value_or(Json(text));
}

Json list(const std::string& text, const std::string& where) {
  if (text.starts_with("[")) return parse_json(text, where);
  Json values = Json::array();
  for (const std::string& part : split(text, ',')) values.push_back(guess(part, where));
  return values;
}

// "ps:servers=2,asynchronous=true".
Json strategy(const std::string& text, const std::string& where) {
  if (text.starts_with("{")) return parse_json(text, where);
  const std::size_t colon = text.find(':');
  Json object = {{"kind", text.substr(0, colon)}};
  if (colon == std::string::npos) return object;
  for (const std::string& part : split(text.substr(colon + 1), ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) {
      bad(where + ": '" + printable(part) + "' has no value; write ps:servers=2,asynchronous=true");
    }
    object[underscored(part.substr(0, equals))] = guess(part.substr(equals + 1), where);
  }
  return object;
}

Json value_of(const RequestField& field, const std::string& text) {
  const std::string where = "--" + dashed(field.name);
  switch (field.type) {
    case FieldType::Number:
    case FieldType::Integer: {
      if (std::find(field.words.begin(), field.words.end(), text) != field.words.end()) return text;
      std::optional<Json> value = number(text);
      if (!value) bad(where + ": '" + printable(text) + "' is not a finite number");
      return *value;
    }
    case FieldType::Integers:
    case FieldType::Texts:
      return list(text, where);
    case FieldType::Object:
      return strategy(text, where);
    case FieldType::Described:
      return text.starts_with("{") ? parse_json(text, where) : Json(text);
    case FieldType::Boolean:
      if (text != "true" && text != "false")
        bad(where + ": '" + printable(text) + "' is neither true nor false");
      return text == "true";
    case FieldType::Text:
      break;
  }
  return text;
}

std::string path(const RequestField& field) {
  return (field.of_strategy ? "strategy." : "") + std::string(field.name);
}

void set(Json& request, const RequestField& field, const std::string& text) {
  const std::string name(field.name);
  if (!field.of_strategy) {
    request[name] = value_of(field, text);
    return;
  }
  Json& object = request["strategy"];
  if (object.is_null()) object = Json::object();
  if (object.is_object()) object[name] = value_of(field, text);
}

const char* type_name(FieldType type) {
  switch (type) {
    case FieldType::Number:
      return "X";
    case FieldType::Integer:
      return "N";
    case FieldType::Integers:
    case FieldType::Texts:
      return "A,B,..";
    case FieldType::Described:
      return "NAME|JSON";
    case FieldType::Boolean:
    case FieldType::Text:
    case FieldType::Object:
      break;
  }
  return "TEXT";
}

}  // namespace

void RequestOptions::add_to(Command& command) {
  for (const RequestField& field : request_fields()) options_.push_back({&field, {}, {}});
  for (const RequestField& field : strategy_fields()) options_.push_back({&field, {}, {}});
  for (Given& given : options_) {  // the vector does not move any more: CLI11 keeps references
    const RequestField& field = *given.field;
    if (field.of_strategy && field.name == "kind") continue;  // that is --strategy
    std::string name = "--" + dashed(field.name);
    if (field.name == "model") name += ",model";
    if (field.type == FieldType::Boolean) {
      given.option = &command.add_flag(name, given.value, help_of(field));
    } else {
      given.option = &command.add_option(name, given.value, help_of(field));
      given.option->type_name(type_name(field.type));
    }
    given.option->group(std::string(field.group));
  }
}

std::vector<std::string> join_booleans(std::vector<std::string> arguments) {
  std::vector<std::string> booleans;
  for (const auto fields : {request_fields(), strategy_fields()}) {
    for (const RequestField& field : fields) {
      if (field.type == FieldType::Boolean) booleans.push_back("--" + dashed(field.name));
    }
  }
  std::vector<std::string> joined;
  bool ours = true;
  for (std::string& argument : arguments) {
    ours = ours && argument != "--";
    const bool value = ours && (argument == "true" || argument == "false");
    if (value && !joined.empty() &&
        std::find(booleans.begin(), booleans.end(), joined.back()) != booleans.end()) {
      joined.back() += "=" + argument;
    } else {
      joined.push_back(std::move(argument));
    }
  }
  return joined;
}

bool RequestOptions::was_given(const Given& given) {
  return given.option != nullptr && given.option->count() > 0;
}

bool RequestOptions::any() const {
  return std::any_of(options_.begin(), options_.end(), was_given);
}

std::string RequestOptions::json() const {
  Json request = Json::object();
  for (const Given& given : options_) {
    if (was_given(given)) set(request, *given.field, given.value);
  }
  return json_text(request);
}

std::string RequestOptions::value_json(const std::string& field, const std::string& text) const {
  const auto given = std::find_if(options_.begin(), options_.end(),
                                  [&](const Given& one) { return path(*one.field) == field; });
  return json_text(value_of(*given->field, text));
}

}  // namespace foretrain::cli
