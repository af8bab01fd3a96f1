// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/measured/mapping.h"
#include "foretrain/measured/report_number.h"
#include "foretrain/request/request_fields.h"

namespace foretrain::measured {
namespace {

[[noreturn]] void bad(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::BadInput, where + ": " + what);
}

Pattern read_pattern(const std::string& text, const std::string& where) {
  try {
    return Pattern(text);
  } catch (const Error& error) {
    bad(where, error.what());
  }
}

std::vector<std::string> read_texts(const Json& value, const std::string& where) {
  std::vector<std::string> texts;
  const Json list = value.is_array() ? value : Json::array({value});
  for (const Json& entry : list) {
    if (!entry.is_string()) bad(where, "must be a text or a list of texts");
    texts.push_back(entry.get<std::string>());
  }
  if (texts.empty()) bad(where, "the list is empty");
  return texts;
}

// "x", ["x", "y"], or {"equals"|"contains"|"regex": ..., "not": true}.
Condition read_condition(const std::string& column, const Json& value, const std::string& where) {
  Condition condition;
  condition.column = column;
  if (!value.is_object()) {
    condition.texts = read_texts(value, where);
    return condition;
  }
  JsonFields fields(value, where);
  condition.negated = fields.boolean("not").value_or(false);
  const int tests = (fields.has("equals") ? 1 : 0) + (fields.has("contains") ? 1 : 0) +
                    (fields.has("regex") ? 1 : 0);
  if (tests != 1) bad(where, "needs one of 'equals', 'contains' and 'regex'");
  if (const Json* texts = fields.find("equals")) condition.texts = read_texts(*texts, where);
  if (const Json* texts = fields.find("contains")) {
    condition.test = Condition::Test::Contains;
    condition.texts = read_texts(*texts, where);
  }
  if (const auto pattern = fields.text("regex")) {
    condition.test = Condition::Test::Matches;
    condition.pattern = read_pattern(*pattern, where);
  }
  fields.finish();
  return condition;
}

// Appends `text` cut at its {holes}, the text between them as JSON characters or as it is.
void append_text(const std::string& text, bool as_json, const std::string& where,
                 Template& result) {
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t open = std::min(text.find('{', from), text.size());
    if (open > from) {
      std::string literal = text.substr(from, open - from);
      if (as_json) {
        const std::string quoted = json_text(Json(literal));
        literal = quoted.substr(1, quoted.size() - 2);
      }
      result.push_back({Piece::Kind::Text, literal});
    }
    if (open == text.size()) return;
    const std::size_t close = text.find('}', open);
    if (close == std::string::npos || close == open + 1) {
      bad(where, "'" + printable(text) + "' has a '{' without a name and '}'");
    }
    result.push_back({Piece::Kind::Characters, text.substr(open + 1, close - open - 1)});
    from = close + 1;
  }
}

void append_json(const Json& value, const std::string& where, Template& result) {
  const auto literal = [&](std::string text) {
    result.push_back({Piece::Kind::Text, std::move(text)});
  };
  if (value.is_object() || value.is_array()) {
    const bool object = value.is_object();
    const char* separator = object ? "{" : "[";
    if (value.empty()) return literal(object ? "{}" : "[]");
    for (const auto& [key, entry] : value.items()) {
      literal(separator + (object ? json_text(Json(key)) + ":" : ""));
      append_json(entry, where, result);
      separator = ",";
    }
    return literal(object ? "}" : "]");
  }
  if (!value.is_string()) return literal(json_text(value));
  const auto& text = value.get_ref<const std::string&>();
  Template pieces;
  append_text(text, true, where, pieces);
  if (pieces.size() == 1 && pieces.front().kind == Piece::Kind::Characters) {
    result.push_back({Piece::Kind::Value, pieces.front().text});
    return;
  }
  literal("\"");
  result.insert(result.end(), pieces.begin(), pieces.end());
  literal("\"");
}

Lengths read_lengths(const Json& value, const std::string& where) {
  JsonFields fields(value, where + ": longest");
  Lengths lengths;
  lengths.mean = fields.required_number("mean");
  lengths.deviation = fields.required_number("deviation");
  const double multiple = fields.number("multiple").value_or(1);
  fields.finish();
  const bool fine = lengths.mean > 0 && lengths.mean < 1e9 && lengths.deviation >= 0 &&
                    lengths.deviation < 1e9 && multiple >= 1 && multiple < 1e9;
  if (!fine) bad(where, "'longest' needs a mean above 0, a deviation and a multiple from 1");
  lengths.multiple = static_cast<std::int64_t>(multiple);
  return lengths;
}

Variable read_variable(const std::string& name, const Json& value, const std::string& where) {
  JsonFields fields(value, where);
  Variable variable;
  variable.name = name;
  variable.column = fields.required_text("column");
  if (const auto text = fields.text("regex")) variable.pattern = read_pattern(*text, where);
  if (const Json* map = fields.find("map")) {
    if (!map->is_object() || map->empty()) bad(where, "'map' must be an object of text to value");
    variable.map.emplace();
    for (const auto& [text, meaning] : map->items()) {
      variable.map->emplace_back(text, json_text(meaning));
    }
  }
  variable.split = fields.text("split");
  variable.over = fields.text("spread_over").value_or("");
  if (const Json* longest = fields.find("longest"))
    variable.longest = read_lengths(*longest, where);
  if (variable.map && variable.split) bad(where, "'map' and 'split' exclude each other");
  fields.finish();
  return variable;
}

Comparison read_comparison(const Json& value, const std::string& where) {
  JsonFields fields(value, where);
  Comparison comparison;
  try {
    comparison.number = report_number_named(fields.required_text("number"));
  } catch (const Error& error) {
    throw Error(error.kind(), where + ": " + error.what());
  }
  comparison.scale = fields.number("scale").value_or(1);
  if (!(comparison.scale > 0)) bad(where, "'scale' must be above 0");
  comparison.divide_by = fields.text("divide_by").value_or("");
  comparison.name = fields.text("name").value_or("");
  fields.finish();
  return comparison;
}

void read_request(const Json& value, const char* name, const std::string& where,
                  std::vector<std::pair<std::string, Template>>& request) {
  if (!value.is_object()) bad(where, "'" + std::string(name) + "' must be an object");
  std::vector<std::string> known;
  for (const RequestField& field : request_fields()) known.emplace_back(field.name);
  for (const auto& [field, entry] : value.items()) {
    if (std::find(known.begin(), known.end(), field) == known.end()) {
      bad(where, "a request has no field '" + printable(field) + "'" + did_you_mean(field, known));
    }
    Template made;
    if (!entry.is_null()) append_json(entry, where + ": " + field, made);
    request.emplace_back(field, std::move(made));
  }
}

// The values that a fragment of a request states: each number, name or list is one; a variable is
// as many as it has to choose from.
std::size_t count_values(const Json& value, const std::vector<Variable>& variables) {
  std::size_t count = 0;
  if (value.is_object()) {
    for (const auto& [key, entry] : value.items()) count += count_values(entry, variables);
    return count;
  }
  if (!value.is_string()) return value.is_null() ? 0 : 1;
  for (const Variable& variable : variables) {
    const bool used =
        value.get_ref<const std::string&>().find("{" + variable.name + "}") != std::string::npos;
    if (used && variable.map) count += variable.map->size();
    if (used && variable.longest) count += 2;  // mean and deviation
  }
  return std::max<std::size_t>(count, 1);
}

Rule read_rule(const Json& value, const std::string& where, Mapping& mapping) {
  JsonFields fields(value, where);
  fields.ignore("about");
  Rule rule;
  if (const Json* when = fields.find("when")) {
    if (!when->is_object()) bad(where, "'when' must be an object of column to text");
    for (const auto& [column, test] : when->items()) {
      rule.when.push_back(read_condition(column, test, where + ": when: " + printable(column)));
    }
  }
  if (const auto reason = fields.text("skip")) {
    append_text(*reason, false, where, rule.skip.emplace());
  }
  const auto read = [&](const char* name, auto& made, std::size_t& knobs) {
    const Json* found = fields.find(name);
    if (found == nullptr) return;
    read_request(*found, name, where, made);
    knobs += count_values(*found, mapping.variables);
  };
  read("request", rule.request, mapping.knobs.facts);
  read("recovered", rule.recovered, mapping.knobs.recovered);
  read("left_out", rule.left_out, mapping.knobs.left_out);
  read("fitted", rule.fitted, mapping.knobs.fitted);
  if (const Json* compare = fields.find("compare")) {
    rule.compare = read_comparison(*compare, where + ": compare");
  }
  const bool asks = !rule.request.empty() || !rule.recovered.empty() || !rule.left_out.empty() ||
                    !rule.fitted.empty() || rule.compare;
  if (rule.skip && asks) {
    bad(where, "'skip' stands alone, without 'request', 'fitted' and 'compare'");
  }
  if (!rule.skip && !asks) bad(where, "needs 'skip', 'request', 'fitted' or 'compare'");
  fields.finish();
  return rule;
}

}  // namespace

Mapping parse_mapping(std::string_view json, const std::string& where) {
  const Json value = parse_json(json, where);
  JsonFields fields(value, where);
  for (const char* documentation : {"about", "repositories", "constants"}) {
    fields.ignore(documentation);
  }
  Mapping mapping;
  mapping.where = where;
  if (const Json* columns = fields.find("columns")) {
    if (!columns->is_object()) bad(where, "'columns' must be an object of column to name");
    for (const auto& [theirs, ours] : columns->items()) {
      if (!ours.is_string())
        bad(where, "'columns': the name of " + printable(theirs) + " is no text");
      mapping.columns.emplace_back(theirs, ours.get<std::string>());
    }
  }
  if (const Json* variables = fields.find("variables")) {
    if (!variables->is_object()) bad(where, "'variables' must be an object of name to variable");
    for (const auto& [name, variable] : variables->items()) {
      mapping.variables.push_back(
          read_variable(name, variable, where + ": variable " + printable(name)));
    }
  }
  const Json& rules = fields.require("rules");
  if (!rules.is_array() || rules.empty()) bad(where, "'rules' must be a list of rules");
  for (std::size_t i = 0; i < rules.size(); ++i) {
    mapping.rules.push_back(
        read_rule(rules[i], where + ": rule " + std::to_string(i + 1), mapping));
  }
  if (const auto reason = fields.text("otherwise")) {
    append_text(*reason, false, where + ": otherwise", mapping.otherwise.emplace());
  }
  fields.finish();
  return mapping;
}

void check_columns(const Mapping& mapping, const std::vector<std::string>& columns) {
  const auto check = [&](const std::string& column) {
    const bool known = std::find(columns.begin(), columns.end(), column) != columns.end();
    if (known || column.empty()) return;
    throw Error(ErrorKind::BadInput, mapping.where + ": the measurements have no column " + "'" +
                                         printable(column) + "'" + did_you_mean(column, columns));
  };
  const auto check_template = [&](const Template& pieces) {
    for (const Piece& piece : pieces) {
      const bool variable =
          std::any_of(mapping.variables.begin(), mapping.variables.end(),
                      [&](const Variable& known) { return known.name == piece.text; });
      if (piece.kind != Piece::Kind::Text && !variable) check(piece.text);
    }
  };
  for (const Variable& variable : mapping.variables) {
    check(variable.column);
    check(variable.over);
  }
  for (const Rule& rule : mapping.rules) {
    for (const Condition& condition : rule.when) check(condition.column);
    for (const auto* part : {&rule.request, &rule.recovered, &rule.left_out, &rule.fitted}) {
      for (const auto& [field, made] : *part) check_template(made);
    }
    if (rule.skip) check_template(*rule.skip);
    if (rule.compare) check(rule.compare->divide_by);
  }
  if (mapping.otherwise) check_template(*mapping.otherwise);
}

}  // namespace foretrain::measured
