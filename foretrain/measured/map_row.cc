// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/base/normal.h"
#include "foretrain/measured/mapping.h"

namespace foretrain::measured {
namespace {

constexpr std::int64_t kMostNodes = 100'000;

std::optional<double> to_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::int64_t> to_count(std::string_view text) {
  const std::optional<double> number = to_number(text);
  if (!number || !(*number >= 1) || *number > 1e9 || *number != std::floor(*number)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*number);
}

std::string in_quotes(std::string_view text) { return "'" + printable(text) + "'"; }

std::string to_json_text(std::string_view text) { return json_text(Json(std::string(text))); }

// What stands for a value inside of a JSON string: of text what is between its quotes, of a list
// its own text. `plain`: where the string is none of JSON.
std::string characters(const std::string& json, bool plain) {
  if (json.starts_with('"')) {
    return plain ? parse_json(json).get<std::string>() : json.substr(1, json.size() - 2);
  }
  return plain ? json : characters(to_json_text(json), false);
}

bool holds(const Condition& condition, const Row& row) {
  const std::string_view text = cell(row, condition.column);
  bool result = false;
  if (condition.test == Condition::Test::Matches) {
    result = condition.pattern->is_in(text);
  } else {
    result = std::any_of(condition.texts.begin(), condition.texts.end(), [&](const auto& one) {
      return condition.test == Condition::Test::Equals ? text == one
                                                       : text.find(one) != std::string_view::npos;
    });
  }
  return result != condition.negated;
}

bool applies(const Rule& rule, const Row& row) {
  return std::all_of(rule.when.begin(), rule.when.end(),
                     [&](const Condition& condition) { return holds(condition, row); });
}

// "7" over 3: [2,2,3].
std::optional<std::string> spread(std::string_view devices, std::string_view nodes) {
  const auto count = to_count(devices);
  const auto over = to_count(nodes);
  if (!count || !over || *over > *count || *over > kMostNodes) return std::nullopt;
  std::string list;
  for (std::int64_t node = 0; node < *over; ++node) {
    const bool more = node >= *over - *count % *over;
    list += (list.empty() ? "[" : ",") + std::to_string(*count / *over + (more ? 1 : 0));
  }
  return list + "]";
}

// The expected longest of `samples` normally distributed lengths, as a multiple.
std::int64_t longest_of(std::int64_t samples, const Lengths& lengths) {
  const double above = expected_largest(static_cast<double>(samples));
  const double length = std::max(1.0, lengths.mean + above * lengths.deviation);
  const auto multiple = static_cast<double>(lengths.multiple);
  return static_cast<std::int64_t>(std::max(1.0, std::round(length / multiple)) * multiple);
}

std::string split(const std::string& text, const std::string& separator) {
  Json list = Json::array();
  const auto add = [&](const std::string& part) {
    if (const auto count = to_count(part)) {
      list.push_back(*count);
    } else {
      list.push_back(part);
    }
  };
  if (separator.empty()) {
    for (const char c : text) add(std::string(1, c));
  } else {
    for (std::size_t from = 0; from <= text.size();) {
      const std::size_t to = std::min(text.find(separator, from), text.size());
      add(text.substr(from, to - from));
      from = to + separator.size();
    }
  }
  return json_text(list);
}

// Fills templates from one row. The first thing that is missing stays in `reason`.
class Filler {
 public:
  Filler(const Mapping& mapping, const Row& row) : mapping_(mapping), row_(row) {}

  // As JSON. Where it is plain text (a reason), values are not escaped either.
  std::optional<std::string> fill(const Template& pieces, bool plain = false) {
    std::string result;
    for (const Piece& piece : pieces) {
      if (piece.kind == Piece::Kind::Text) {
        result += piece.text;
        continue;
      }
      const std::optional<std::string> json = value_of(piece.text);
      if (!json) return std::nullopt;
      result += piece.kind == Piece::Kind::Value ? *json : characters(*json, plain);
    }
    return result;
  }

  const std::string& reason() const { return reason_; }

 private:
  std::optional<std::string> missing(const std::string& what) {
    if (reason_.empty()) reason_ = what;
    return std::nullopt;
  }

  // As JSON: a number where the text is one, else a string.
  std::optional<std::string> value_of(const std::string& name) {
    for (const Variable& variable : mapping_.variables) {
      if (variable.name == name) return value_of(variable);
    }
    const std::string_view text = cell(row_, name);
    if (text.empty()) return missing(name + " is empty");
    return as_json(text);
  }

  static std::string as_json(std::string_view text) {
    return Json::accept(text) && to_number(text) ? std::string(text) : to_json_text(text);
  }

  std::optional<std::string> value_of(const Variable& variable) {
    const std::string_view all = cell(row_, variable.column);
    std::string text(all);
    if (!variable.over.empty()) {
      const auto list = spread(all, cell(row_, variable.over));
      return list ? list
                  : missing("cannot spread " + variable.column + " " + in_quotes(all) + " over " +
                            variable.over + " " + in_quotes(cell(row_, variable.over)));
    }
    if (variable.longest) {
      const auto samples = to_count(all);
      if (!samples) return missing(variable.column + " " + in_quotes(all) + " is no count");
      return std::to_string(longest_of(*samples, *variable.longest));
    }
    if (variable.pattern) {
      const std::optional<std::string> found = variable.pattern->find(text);
      if (!found) return missing("no " + variable.name + " in " + variable.column);
      text = *found;
    }
    if (text.empty()) return missing(variable.column + " is empty");
    if (variable.map) {
      for (const auto& [known, meaning] : *variable.map) {
        if (known == text) return meaning;
      }
      return missing(variable.name + " " + in_quotes(text) + " is not in the mapping");
    }
    return variable.split ? split(text, *variable.split) : as_json(text);
  }

  const Mapping& mapping_;
  const Row& row_;
  std::string reason_;
};

// What the rules say about a row, before anything is filled in.
struct Draft {
  std::map<std::string, const Template*> fields;
  std::map<std::string, const Template*> facts;  // of the plain request
  const Comparison* compare = nullptr;
  const Template* skip = nullptr;
};

// An empty template removes the field.
void put(const std::vector<std::pair<std::string, Template>>& made,
         std::map<std::string, const Template*>& fields) {
  for (const auto& [field, pieces] : made) {
    if (pieces.empty()) {
      fields.erase(field);
    } else {
      fields[field] = &pieces;
    }
  }
}

Draft apply_rules(const Mapping& mapping, const Row& row) {
  Draft draft;
  for (const Rule& rule : mapping.rules) {
    if (!applies(rule, row)) continue;
    if (rule.skip) {
      draft.skip = &*rule.skip;
      break;
    }
    for (const auto* made : {&rule.request, &rule.recovered}) {
      put(*made, draft.facts);
      put(*made, draft.fields);
    }
    put(rule.left_out, draft.facts);
    put(rule.fitted, draft.fields);
    if (rule.compare) draft.compare = &*rule.compare;
  }
  return draft;
}

std::string device_of(const Draft& draft, Filler filler, const Row& row) {
  const auto found = draft.fields.find("device");
  if (found != draft.fields.end()) {
    if (const auto json = filler.fill(*found->second)) {
      return characters(*json, true);
    }
  }
  return std::string(cell(row, "gpu"));
}

// Why there is nothing to compare with, or "".
std::string read_measured(const Comparison& compare, const Row& row, Measurement& mapped) {
  const std::string_view text = cell(row, "value");
  if (text.empty()) return "no value";
  const std::optional<double> value = to_number(text);
  if (!value || !std::isfinite(*value)) return "value " + in_quotes(text) + " is not a number";
  if (!(*value > 0)) return "a value of 0 or less has no relative error";
  mapped.measured = *value * compare.scale;
  if (!compare.divide_by.empty()) {
    const std::optional<double> divisor = to_number(cell(row, compare.divide_by));
    if (!divisor || !(*divisor > 0) || !std::isfinite(*divisor)) {
      return compare.divide_by + " " + in_quotes(cell(row, compare.divide_by)) + " is not a number";
    }
    mapped.measured /= *divisor;
  }
  mapped.number = compare.number;
  return "";
}

std::optional<std::string> fill_request(const std::map<std::string, const Template*>& fields,
                                        Filler& filler) {
  std::string request;
  for (const auto& [field, made] : fields) {
    const std::optional<std::string> json = filler.fill(*made);
    if (!json) return std::nullopt;
    request += (request.empty() ? "{\"" : ",\"") + field + "\":" + *json;
  }
  return request + "}";
}

}  // namespace

Measurement map_row(const Mapping& mapping, const Row& row) {
  Measurement mapped;
  const Draft draft = apply_rules(mapping, row);
  Filler filler(mapping, row);
  mapped.device = device_of(draft, filler, row);
  const bool named = draft.compare != nullptr && !draft.compare->name.empty();
  mapped.metric = named ? draft.compare->name : std::string(cell(row, "metric"));
  const bool no_model = !draft.fields.contains("model");
  const Template* skip =
      draft.skip == nullptr && no_model && mapping.otherwise ? &*mapping.otherwise : draft.skip;
  if (skip != nullptr) {
    mapped.reason = filler.fill(*skip, true).value_or(filler.reason());
    return mapped;
  }
  if (draft.compare == nullptr || no_model) {
    mapped.reason = "no rule for model " + in_quotes(cell(row, "model")) + ", metric " +
                    in_quotes(cell(row, "metric"));
    return mapped;
  }
  mapped.reason = read_measured(*draft.compare, row, mapped);
  if (!mapped.reason.empty()) return mapped;
  mapped.request = fill_request(draft.fields, filler);
  mapped.plain = fill_request(draft.facts, filler);
  if (mapped.request && mapped.plain) return mapped;
  mapped.reason = filler.reason();
  mapped.request.reset();
  mapped.plain.reset();
  return mapped;
}

}  // namespace foretrain::measured
