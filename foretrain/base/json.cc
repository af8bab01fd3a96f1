// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/json.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain {
namespace {

constexpr std::size_t kDeepest = 64;
constexpr std::size_t kLongestWhere = 200;
constexpr std::size_t kLongestReason = 160;

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::BadInput, printable(where, kLongestWhere) + ": " + what);
}

// "line 2, column 5" of the last of the `count` bytes that were read.
std::string position(std::string_view text, std::size_t count) {
  const std::string_view before = text.substr(0, count == 0 ? 0 : count - 1);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
  return "line " + std::to_string(line) + ", column " + std::to_string(before.size() - start + 1);
}

// A pointer that tells its maker how far it has come, since the parser tells a handler only
// about errors of its own.
class Reader {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Reader(const char* at, const char** reached) : at_(at), reached_(reached) {}
  reference operator*() const { return *at_; }
  Reader& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  Reader operator++(int) {
    const Reader before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Reader& other) const { return at_ == other.at_; }
  bool operator!=(const Reader& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** reached_;
};

// Builds the value while it is parsed. nlohmann's own builder takes the last of equal keys and
// any depth.
class Builder {
 public:
  explicit Builder(Json& root) : root_(root) {}
  const std::string& reason() const { return reason_; }                  // why it stopped
  std::optional<std::size_t> stopped_at() const { return stopped_at_; }  // if the parser did

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(Json::number_integer_t value) { return add(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return add(value); }
  bool number_float(Json::number_float_t value, const std::string& /*digits*/) {
    return add(value);
  }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(Json::binary_t& value) { return add(std::move(value)); }

  bool start_object(std::size_t /*size*/) { return open(Json::value_t::object); }
  bool key(std::string& name) {
    const auto [field, added] = open_.back()->get_ref<Json::object_t&>().try_emplace(name);
    if (!added) reason_ = "the key '" + printable(name) + "' is given twice";
    field_ = &field->second;
    return added;
  }
  bool end_object() { return close(); }
  bool start_array(std::size_t /*size*/) { return open(Json::value_t::array); }
  bool end_array() { return close(); }

  // `error` reads "[json.exception.parse_error.101] parse error at line 1, column 2: reason".
  bool parse_error(std::size_t byte, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) {
    std::string_view what = error.what();
    what.remove_prefix(std::min(what.size(), what.find("] ") + 2));
    if (what.starts_with("parse error")) what.remove_prefix(what.find(": ") + 2);
    reason_ = "not valid JSON: " + printable(what, kLongestReason);
    stopped_at_ = byte;
    return false;
  }

 private:
  template <typename Value>
  bool add(Value&& value) {
    place() = std::forward<Value>(value);
    return true;
  }

  // Where the next value belongs. A parent's elements do not move while one of them is open.
  Json& place() {
    if (open_.empty()) return root_;
    if (!open_.back()->is_array()) return *field_;
    return open_.back()->get_ref<Json::array_t&>().emplace_back();
  }

  bool open(Json::value_t type) {
    if (open_.size() == kDeepest) {
      reason_ = "nested deeper than " + std::to_string(kDeepest) + " levels";
      return false;
    }
    Json& value = place();
    value = type;
    open_.push_back(&value);
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  Json& root_;
  std::vector<Json*> open_;  // the arrays and objects around the current value
  Json* field_ = nullptr;    // the value of the key read last
  std::string reason_;
  std::optional<std::size_t> stopped_at_;
};

// A whole number that fits; none otherwise.
std::optional<std::int64_t> whole(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (!std::in_range<std::int64_t>(number)) return std::nullopt;
    return static_cast<std::int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  const auto number = value.get<double>();
  constexpr double kEnd = 9223372036854775808.0;  // 2^63, the first that does not fit
  if (!(number >= -kEnd && number < kEnd) || std::trunc(number) != number) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

}  // namespace

Json parse_json(std::string_view text, const std::string& where) {
  // The parser takes a NUL for the end of the text and would ignore what follows.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    fail(where, position(text, nul + 1) + ": not valid JSON: a NUL byte");
  }
  Json result;
  Builder builder(result);
  const char* reached = text.data();
  const Reader begin(text.data(), &reached);
  const Reader end(text.data() + text.size(), &reached);
  if (!Json::sax_parse(begin, end, &builder)) {
    const auto count = static_cast<std::size_t>(reached - text.data());
    const std::size_t last = std::min(builder.stopped_at().value_or(count), text.size());
    fail(where, position(text, last) + ": " + builder.reason());
  }
  return result;
}

OrderedJson ordered_json(const std::string& text) { return OrderedJson::parse(text); }

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string json_text(const OrderedJson& json, int indent) {
  return json.dump(indent, ' ', false, OrderedJson::error_handler_t::replace);
}

JsonFields::JsonFields(const Json& object, std::string where)
    : object_(object), where_(std::move(where)) {
  if (!object_.is_object()) {
    fail(where_, std::string("expected a JSON object, not ") + object_.type_name());
  }
}

bool JsonFields::has(const std::string& key) const {
  const auto field = object_.find(key);
  return field != object_.end() && !field->is_null();
}

const Json* JsonFields::find(const std::string& key) {
  asked_.push_back(key);
  const auto field = object_.find(key);
  return field == object_.end() || field->is_null() ? nullptr : &*field;
}

const Json& JsonFields::require(const std::string& key) {
  const Json* value = find(key);
  if (value == nullptr) fail(where_, "the field '" + key + "' is missing");
  return *value;
}

std::optional<double> JsonFields::number(const std::string& key) {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) {
    fail(where_, "the field '" + key + "' must be a number, not " + value->type_name());
  }
  const auto number = value->get<double>();
  if (!std::isfinite(number)) fail(where_, "the field '" + key + "' must be a finite number");
  return number;
}

std::optional<std::int64_t> JsonFields::integer(const std::string& key) {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) {
    fail(where_, "the field '" + key + "' must be a whole number, not " + value->type_name());
  }
  const std::optional<std::int64_t> number = whole(*value);
  if (!number)
    fail(where_, "the field '" + key + "' must be a whole number, not " + json_text(*value));
  return number;
}

std::optional<std::string> JsonFields::text(const std::string& key) {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) {
    fail(where_, "the field '" + key + "' must be a string, not " + value->type_name());
  }
  return value->get<std::string>();
}

std::optional<bool> JsonFields::boolean(const std::string& key) {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) {
    fail(where_, "the field '" + key + "' must be true or false, not " + value->type_name());
  }
  return value->get<bool>();
}

double JsonFields::required_number(const std::string& key) {
  require(key);
  return *number(key);
}

std::string JsonFields::required_text(const std::string& key) {
  require(key);
  return *text(key);
}

const Json& JsonFields::required_list(const std::string& key) {
  const Json& found = require(key);
  if (!found.is_array() || found.size() > kMostEntries) {
    fail(where_, "'" + key + "' is no list, or one of more than " + std::to_string(kMostEntries));
  }
  return found;
}

std::vector<std::string> JsonFields::required_texts(const std::string& key) {
  std::vector<std::string> values;
  for (const Json& one : required_list(key)) {
    if (!one.is_string()) fail(where_, "'" + key + "' is no list of texts");
    values.push_back(one.get<std::string>());
  }
  return values;
}

void JsonFields::ignore(const std::string& key) { asked_.push_back(key); }

void JsonFields::finish() const {
  for (const auto& [key, value] : object_.items()) {
    if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    fail(where_, "unknown field '" + printable(key) + "'" + did_you_mean(key, asked_));
  }
}

}  // namespace foretrain
