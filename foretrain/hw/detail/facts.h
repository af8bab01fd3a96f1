// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace foretrain::hw {

// One value of a hardware file and where it comes from ("" where nobody said).
struct Fact {
  std::string field;
  std::variant<double, bool, std::string> value;
  std::string source;
};

// A hardware file: a flat JSON object whose values are plain or {"value": ..., "source": "..."}.
// A source that is a key of the object "sources" stands for the text there. "aliases" is a list
// of other names, "note" is for readers.
struct FactSheet {
  std::string where;  // begins every message
  std::vector<std::string> aliases;
  std::vector<Fact> facts;
};

// Throws Error(BadInput) for text that is no such object.
FactSheet read_facts(std::string_view text, const std::string& where);

// Throws Error(BadInput) with near matches for a field that is not among `known`.
void check_fields(const FactSheet& sheet, std::span<const std::string_view> known);

// The value of a field; absent where the file has none. Each throws Error(BadInput) for a value
// of another type, `number` also for one outside low..high, `integer` for a fraction.
std::optional<double> number(const FactSheet& sheet, std::string_view field, double low,
                             double high);
std::optional<int> integer(const FactSheet& sheet, std::string_view field, int low, int high);
std::optional<bool> boolean(const FactSheet& sheet, std::string_view field);
std::optional<std::string> text(const FactSheet& sheet, std::string_view field);

// The same for fields that must be there: Error(BadInput) where they are not.
double required_number(const FactSheet& sheet, std::string_view field, double low, double high);
std::string required_text(const FactSheet& sheet, std::string_view field);

}  // namespace foretrain::hw
