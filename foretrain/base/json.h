// SPDX-License-Identifier: Apache-2.0
// For .cc files only: the one place that shows a third-party type (the layer check keeps
// every other header free of it).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

using Json = nlohmann::json;                 // reading
using OrderedJson = nlohmann::ordered_json;  // writing: keys stay in the order written

// Parses text that came from outside. Throws Error(BadInput) naming `where` ("file x.json",
// "request 3"), line and column for malformed text (invalid UTF-8 too), a number beyond the
// range of double, nesting deeper than 64 or a key given twice. Columns count bytes from 1.
Json parse_json(std::string_view text, const std::string& where = "JSON");

// The same for text of our own, whose keys stay in its order.
OrderedJson ordered_json(const std::string& text);

// On one line, or with `indent` spaces a level; what is no UTF-8 becomes U+FFFD. Not the members
// `dump` and `parse`: each file that calls these compiles all of a writer or a parser.
std::string json_text(const Json& json, int indent = -1);
std::string json_text(const OrderedJson& json, int indent = -1);

// A JSON object being read field by field. Each accessor throws Error(BadInput) that names the
// field when its value has the wrong type; `finish` throws for fields that nobody asked for,
// listing near matches. `where` is the prefix of every message. Keeps a reference to `object`.
class JsonFields {
 public:
  JsonFields(const Json& object, std::string where);  // throws where it is no object
  JsonFields(Json&& object, std::string where) = delete;

  bool has(const std::string& key) const;    // present and not null; does not count as asked
  const Json* find(const std::string& key);  // null when absent or JSON null
  const Json& require(const std::string& key);

  std::optional<double> number(const std::string& key);         // finite
  std::optional<std::int64_t> integer(const std::string& key);  // 3 and 3.0, not 3.5
  std::optional<std::string> text(const std::string& key);
  std::optional<bool> boolean(const std::string& key);

  double required_number(const std::string& key);
  std::string required_text(const std::string& key);
  // Of at most kMostEntries.
  const Json& required_list(const std::string& key);
  std::vector<std::string> required_texts(const std::string& key);
  static constexpr std::size_t kMostEntries = 10'000;

  void ignore(const std::string& key);  // a field that is allowed but not read here
  void finish() const;
  const std::string& where() const { return where_; }

 private:
  const Json& object_;
  std::string where_;
  std::vector<std::string> asked_;
};

}  // namespace foretrain
