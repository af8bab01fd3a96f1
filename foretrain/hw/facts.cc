// SPDX-License-Identifier: Apache-2.0
#include "foretrain/hw/detail/facts.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"

namespace foretrain::hw {
namespace {

[[noreturn]] void fail(const std::string& where, std::string_view field, const std::string& what) {
  throw Error(ErrorKind::BadInput, where + ": '" + printable(field) + "' " + what);
}

// "1e+06": short, for messages.
std::string shown(double value) {
  char digits[32];
  const auto end =
      std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, 6);
  return {digits, end.ptr};
}

std::variant<double, bool, std::string> plain_value(const Json& json, const std::string& where,
                                                    const std::string& field) {
  if (json.is_number()) {
    const double value = json.get<double>();
    if (!std::isfinite(value)) fail(where, field, "is not a finite number");
    return value;
  }
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_string()) return json.get<std::string>();
  fail(where, field, R"(must be a value or {"value": ..., "source": "..."})");
}

// No JsonFields here: the catalog has two thousand facts and every program reads them all.
Fact read_fact(const std::string& field, const Json& json, const Json* sources,
               const std::string& where) {
  if (!json.is_object()) return {field, plain_value(json, where, field), ""};
  const auto value = json.find("value");
  const auto source = json.find("source");
  const bool sourced = source != json.end();
  if (value == json.end() || json.size() != (sourced ? 2U : 1U) ||
      (sourced && !source->is_string())) {
    fail(where, field, R"(must be a value or {"value": ..., "source": "..."})");
  }
  Fact fact{field, plain_value(*value, where, field), sourced ? source->get<std::string>() : ""};
  if (sources != nullptr) {
    const auto named = sources->find(fact.source);
    if (named != sources->end() && named->is_string()) fact.source = named->get<std::string>();
  }
  return fact;
}

std::vector<std::string> read_aliases(const Json& json, const std::string& where) {
  std::vector<std::string> aliases;
  if (!json.is_array()) fail(where, "aliases", "must be a list of names");
  for (const Json& alias : json) {
    if (!alias.is_string()) fail(where, "aliases", "must be a list of names");
    aliases.push_back(alias.get<std::string>());
  }
  return aliases;
}

const Fact* find(const FactSheet& sheet, std::string_view field) {
  const auto found = std::find_if(sheet.facts.begin(), sheet.facts.end(),
                                  [field](const Fact& fact) { return fact.field == field; });
  return found == sheet.facts.end() ? nullptr : &*found;
}

template <typename T>
std::optional<T> typed(const FactSheet& sheet, std::string_view field, const char* type) {
  const Fact* fact = find(sheet, field);
  if (fact == nullptr) return std::nullopt;
  const T* value = std::get_if<T>(&fact->value);
  if (value == nullptr) fail(sheet.where, field, std::string("must be ") + type);
  return *value;
}

}  // namespace

FactSheet read_facts(std::string_view text, const std::string& where) {
  const Json root = parse_json(text, where);
  if (!root.is_object()) {
    throw Error(ErrorKind::BadInput, where + ": a JSON object is expected");
  }
  FactSheet sheet{where, {}, {}};
  const auto sources = root.find("sources");
  const bool named_sources = sources != root.end();
  if (named_sources && !sources->is_object()) fail(where, "sources", "must be an object");
  for (const auto& [field, value] : root.items()) {
    if (field == "sources" || field == "note" || value.is_null()) continue;
    if (field == "aliases") {
      sheet.aliases = read_aliases(value, where);
      continue;
    }
    sheet.facts.push_back(read_fact(field, value, named_sources ? &*sources : nullptr, where));
  }
  return sheet;
}

void check_fields(const FactSheet& sheet, std::span<const std::string_view> known) {
  for (const Fact& fact : sheet.facts) {
    if (std::find(known.begin(), known.end(), fact.field) != known.end()) continue;
    const std::vector<std::string> names(known.begin(), known.end());
    throw Error(ErrorKind::BadInput, sheet.where + ": unknown field '" + printable(fact.field) +
                                         "'" + did_you_mean(fact.field, names));
  }
}

std::optional<double> number(const FactSheet& sheet, std::string_view field, double low,
                             double high) {
  const std::optional<double> value = typed<double>(sheet, field, "a number");
  if (value && (*value < low || *value > high)) {
    fail(sheet.where, field,
         "is " + shown(*value) + ", outside " + shown(low) + " to " + shown(high));
  }
  return value;
}

std::optional<int> integer(const FactSheet& sheet, std::string_view field, int low, int high) {
  const std::optional<double> value = number(sheet, field, low, high);
  if (!value) return std::nullopt;
  if (*value != std::floor(*value)) fail(sheet.where, field, "must be a whole number");
  return static_cast<int>(*value);
}

std::optional<bool> boolean(const FactSheet& sheet, std::string_view field) {
  return typed<bool>(sheet, field, "true or false");
}

std::optional<std::string> text(const FactSheet& sheet, std::string_view field) {
  constexpr std::size_t kLongest = 100;
  std::optional<std::string> value = typed<std::string>(sheet, field, "text");
  if (value && (value->empty() || value->size() > kLongest)) {
    fail(sheet.where, field, "must have 1 to " + std::to_string(kLongest) + " characters");
  }
  return value;
}

double required_number(const FactSheet& sheet, std::string_view field, double low, double high) {
  const std::optional<double> value = number(sheet, field, low, high);
  if (!value) fail(sheet.where, field, "is missing; give a number");
  return *value;
}

std::string required_text(const FactSheet& sheet, std::string_view field) {
  std::optional<std::string> value = text(sheet, field);
  if (!value) fail(sheet.where, field, "is missing; give a text");
  return *std::move(value);
}

}  // namespace foretrain::hw
