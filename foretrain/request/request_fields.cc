// SPDX-License-Identifier: Apache-2.0
#include "foretrain/request/request_fields.h"

#include <array>
#include <charconv>
#include <utility>

#include "foretrain/base/json.h"

namespace foretrain {
namespace {

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

constexpr std::string_view type_name(FieldType type) {
  switch (type) {
    case FieldType::Text:
      return "text";
    case FieldType::Boolean:
      return "boolean";
    case FieldType::Number:
      return "number";
    case FieldType::Integer:
      return "integer";
    case FieldType::Integers:
      return "list of integers";
    case FieldType::Texts:
      return "list of texts";
    case FieldType::Described:
      return "name or object";
    case FieldType::Object:
      break;
  }
  return "object";
}

std::string shortest(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

OrderedJson rows(std::span<const RequestField> fields) {
  OrderedJson list = OrderedJson::array();
  for (const RequestField& field : fields) {
    OrderedJson row = {{"name", field.name},
                       {"type", type_name(field.type)},
                       {"group", field.group},
                       {"help", field.help}};
    if (const std::string text = default_of(field); !text.empty()) row["default"] = text;
    if (!field.words.empty()) {
      row["words"] = std::vector<std::string_view>(field.words.begin(), field.words.end());
    }
    if (field.range.most > 0) {
      row["least"] = field.range.least;
      row["most"] = field.range.most;
      row["above"] = field.range.above;
    }
    if (field.type == FieldType::Object) row["fields"] = rows(strategy_fields());
    list.push_back(std::move(row));
  }
  return list;
}

}  // namespace

std::string default_of(const RequestField& field) {
  if (!field.absent.empty() || field.value == nullptr) return std::string(field.absent);
  return std::visit(Overloaded{[](std::monostate) { return std::string(); },
                               [](bool value) { return std::string(value ? "true" : "false"); },
                               [](std::int64_t value) { return std::to_string(value); },
                               [](double value) { return shortest(value); },
                               [](const std::string& value) { return value; },
                               [](const Described& value) { return value.text; },
                               [](const auto& list) {
                                 return list.empty() ? std::string() : json_text(Json(list));
                               }},
                    field.value(Request{}));
}

std::string help_of(const RequestField& field) {
  std::string text(field.help);
  if (field.type == FieldType::Integer) {  // its help says what the words mean
    const std::string otherwise = default_of(field);
    return otherwise.empty() ? text : text + " (" + otherwise + ")";
  }
  for (const std::string_view word : field.words) {
    text += (word == field.words.front() ? ": " : ", ") + std::string(word);
  }
  const std::string otherwise = default_of(field);
  return otherwise.empty() ? text : text + " (" + otherwise + ")";
}

std::string request_fields_json() { return json_text(rows(request_fields())); }

}  // namespace foretrain
