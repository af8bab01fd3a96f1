// SPDX-License-Identifier: Apache-2.0
// How the rows of a file of measurements become requests: data, not code. docs/evaluate.md says
// how such a file is written; data/evaluate/ has one for every source that is known.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foretrain/measured/measurement.h"
#include "foretrain/measured/pattern.h"
#include "foretrain/measured/row.h"

namespace foretrain::measured {

// Whether a cell is one of `texts`, contains one of them, or matches the pattern somewhere.
struct Condition {
  enum class Test { Equals, Contains, Matches };
  std::string column;
  Test test = Test::Equals;
  std::vector<std::string> texts;
  std::optional<Pattern> pattern;  // of Matches
  bool negated = false;
};

// A part of a template: text as it is, or the name of a variable or column. A value stands for
// itself as JSON (4, [3, 4], "t4"); inside a string it is only its characters.
struct Piece {
  enum class Kind { Text, Value, Characters };
  Kind kind = Kind::Text;
  std::string text;
};
using Template = std::vector<Piece>;

// Samples of different lengths, padded to the longest of a batch.
struct Lengths {
  double mean = 0;
  double deviation = 0;
  std::int64_t multiple = 1;  // of which the result is one
};

// A value made from a row's cells.
struct Variable {
  std::string name;
  std::string column;
  std::optional<Pattern> pattern;  // the first group, or all of the match, goes on
  std::optional<std::vector<std::pair<std::string, std::string>>> map;  // text to JSON
  std::optional<std::string> split;  // a list, divided here; "" divides into characters
  std::string over;  // a column: spread that many as evenly as possible over that many nodes
  std::optional<Lengths> longest;  // of as many samples as the column says
};

// Which number of the report a row's value is compared with.
struct Comparison {
  std::size_t number = 0;  // of report_numbers()
  double scale = 1;        // from the row's unit to SI
  std::string divide_by;   // a column that divides the value, or ""
  std::string name;        // of the metric in the tables; "": the row's own
};

struct Rule {
  std::vector<Condition> when;   // all must hold
  std::optional<Template> skip;  // the reason why such a row cannot be compared
  std::vector<std::pair<std::string, Template>> request;    // field, JSON: facts
  std::vector<std::pair<std::string, Template>> recovered;  // facts of the job that its source does
                                                            // not state, read off its rows
  std::vector<std::pair<std::string, Template>> left_out;   // what the catalogs would say had they
                                                            // not learned from this source
  std::vector<std::pair<std::string, Template>> fitted;     // chosen in view of the rows
  std::optional<Comparison> compare;
};

// How many values a mapping states of its rows: facts of the source or its documentation; facts
// that whoever runs such a job knows, but which were read off the measurements here; values that
// stand in for a catalog's that learned from them; and numbers fitted to them, which nobody has.
struct Knobs {
  std::size_t facts = 0;
  std::size_t recovered = 0;
  std::size_t left_out = 0;
  std::size_t fitted = 0;
};

// Rules hold from top to bottom: each that applies adds to the request or replaces its fields. Of a
// plain request those are facts, recovered ones and what is left out; of an informed one facts,
// recovered ones and what was fitted. A rule that skips ends it. `otherwise` is the reason where
// none names a model.
struct Mapping {
  std::string where;
  std::vector<std::pair<std::string, std::string>>
      columns;  // of the file, and what rules call them
  std::vector<Variable> variables;
  std::vector<Rule> rules;
  std::optional<Template> otherwise;
  Knobs knobs;
};

// Throws Error(BadInput), or NotFound for a report's number that does not exist. `where` begins
// every message.
Mapping parse_mapping(std::string_view json, const std::string& where);

// The mapping of a file of measurements, named without its ending: NAME.json in its folder, where
// it has one, or the one of data/evaluate/ with that name. Throws Error: as parse_mapping; Io.
std::optional<Mapping> find_mapping(const std::string& name,
                                    const std::optional<std::filesystem::path>& folder);

// Throws Error(BadInput) where the mapping uses a column that the file does not have.
void check_columns(const Mapping& mapping, const std::vector<std::string>& columns);

// The measurement of a row, but for where it comes from: file, line, source and model.
Measurement map_row(const Mapping& mapping, const Row& row);

}  // namespace foretrain::measured
