// SPDX-License-Identifier: Apache-2.0
// The fields of a request: the one table from which the JSON reader and writer, the command's
// options, Python's keywords and docs/request.md come. To add a field: a member of Request or
// Strategy and a row in request_table.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "foretrain/request/request.h"

namespace foretrain {

// Of the JSON value: a list holds whole numbers or texts, a described thing is a name or an object
// that says what it is, the object is `strategy`.
enum class FieldType { Text, Boolean, Number, Integer, Integers, Texts, Described, Object };

// A field's value apart from the struct it lies in; nothing where an optional one is absent. Words
// stand for enumerators.
using FieldValue = std::variant<std::monostate, bool, std::int64_t, double, std::string,
                                std::vector<int>, std::vector<std::string>, Described>;

// Of a number, or of each entry of a list.
struct FieldRange {
  double least = 0;
  double most = 0;
  bool above = false;  // `least` itself is out of range
};

struct RequestField {
  std::string_view name;  // as in JSON; the option has dashes
  std::string_view group;
  std::string_view help;
  std::string_view absent = {};  // what the lack of an optional value means
  FieldRange range = {};
  std::span<const std::string_view> words = {};  // all that a text may be; empty: any text

  // From the member that holds it.
  FieldType type = FieldType::Text;
  bool of_strategy = false;
  FieldValue (*value)(const Request&) = nullptr;
  void (*store)(Request&, FieldValue) = nullptr;  // a value of the same type, in range
};

std::span<const RequestField> request_fields();
std::span<const RequestField> strategy_fields();  // of the object `strategy`

// The help with its words and the default: "passes per step: one, two (one)".
std::string help_of(const RequestField& field);

// What an absent field means, "" where it means nothing.
std::string default_of(const RequestField& field);

// As JSON: a list of {name, type, group, help, default, words, least, most,
// above}; the row of `strategy` has its own `fields`.
std::string request_fields_json();

}  // namespace foretrain
