// SPDX-License-Identifier: Apache-2.0
#include "foretrain/knowledge/memory_intervals.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"

namespace foretrain {
namespace {

constexpr int kVersion = 1;
constexpr double kWidest = 10;  // logarithm; nothing is predicted that badly
constexpr std::size_t kMostCells = 1000;

Error bad(const std::string& where, const std::string& what) {
  return Error(ErrorKind::BadInput, where + ": " + what);
}

double logarithm(const Json& json, const std::string& where) {
  const bool good = json.is_number() && std::abs(json.get<double>()) <= kWidest;
  if (!good) throw bad(where, "an end or quantile is no logarithm from -10 to 10");
  return json.get<double>();
}

std::size_t count(JsonFields& fields, const std::string& key) {
  const std::int64_t value = fields.integer(key).value_or(0);
  if (value < 1) throw bad(fields.where(), "'" + key + "' must be a count");
  return static_cast<std::size_t>(value);
}

void read_cell(const Json& json, const std::string& where, MemoryIntervals& intervals) {
  JsonFields fields(json, where);
  MemoryCell cell;
  cell.low = logarithm(fields.require("low"), where);
  cell.high = logarithm(fields.require("high"), where);
  const Json& quantiles = fields.require("quantiles");
  if (!quantiles.is_array() || quantiles.size() != kMemoryShares.size()) {
    throw bad(where, "'quantiles' must be a list of " + std::to_string(kMemoryShares.size()));
  }
  for (std::size_t i = 0; i < kMemoryShares.size(); ++i) {
    cell.quantiles[i] = logarithm(quantiles[i], where);
  }
  const bool ordered = std::is_sorted(cell.quantiles.begin(), cell.quantiles.end());
  if (!ordered || cell.low > cell.high) throw bad(where, "ends or quantiles are not in order");
  cell.rows = count(fields, "rows");
  cell.sources = count(fields, "sources");
  intervals.cells[fields.required_text("regime")] = cell;
  fields.finish();
}

}  // namespace

MemoryIntervals read_memory_intervals(std::string_view text, const std::string& where) {
  const Json file = parse_json(text, where);
  JsonFields fields(file, where);
  if (fields.required_text("format") != kMemoryIntervalsFormat ||
      fields.required_number("version") != kVersion) {
    throw bad(where,
              "no intervals of memory of version 1; `foretrain fit memory-intervals` writes them");
  }
  fields.ignore("notes");
  MemoryIntervals intervals;
  intervals.confidence = fields.required_number("confidence");
  if (!(intervals.confidence > 0 && intervals.confidence < 1)) {
    throw bad(where, "'confidence' must lie between 0 and 1");
  }
  const Json& traits = fields.require("traits");
  if (!traits.is_array()) throw bad(where, "'traits' must be a list");
  for (const Json& name : traits) {
    const auto which = trait_named(name.is_string() ? name.get<std::string>() : "");
    if (!which) throw bad(where, "'traits' has an entry that is no trait of a request");
    intervals.traits.push_back(*which);
  }
  const Json& cells = fields.require("cells");
  if (!cells.is_array() || cells.size() > kMostCells) throw bad(where, "'cells' must be a list");
  for (const Json& cell : cells) read_cell(cell, where + ", cells", intervals);
  fields.finish();
  return intervals;
}

std::string write_memory_intervals(const MemoryIntervals& intervals,
                                   std::span<const std::string> notes) {
  OrderedJson head{{"format", kMemoryIntervalsFormat}, {"version", kVersion}, {"notes", notes}};
  head["confidence"] = intervals.confidence;
  OrderedJson traits = OrderedJson::array();
  for (const Trait which : intervals.traits) traits.push_back(trait_name(which));
  head["traits"] = traits;
  std::string text = json_text(head, 1);
  text.resize(text.size() - 2);  // "\n}"
  text += ",\n \"cells\": [";
  const char* separator = "\n  ";
  for (const auto& [name, cell] : intervals.cells) {
    const OrderedJson json{{"regime", name},          {"low", cell.low},
                           {"high", cell.high},       {"rows", cell.rows},
                           {"sources", cell.sources}, {"quantiles", cell.quantiles}};
    text += separator + json_text(json);
    separator = ",\n  ";
  }
  return text + "\n ]\n}\n";
}

const MemoryCell* find_cell(const MemoryIntervals& intervals, const Regime& regime) {
  return find_cell(intervals.cells, intervals.traits, regime);
}

double share_within(const MemoryCell& cell, double ratio) {
  assert(ratio > 0);
  const double x = std::log(ratio);
  const auto above = std::upper_bound(cell.quantiles.begin(), cell.quantiles.end(), x);
  if (above == cell.quantiles.begin()) return kMemoryShares.front();
  if (above == cell.quantiles.end()) return kMemoryShares.back();
  const auto i = static_cast<std::size_t>(above - cell.quantiles.begin());
  const double part = (x - cell.quantiles[i - 1]) / (cell.quantiles[i] - cell.quantiles[i - 1]);
  return kMemoryShares[i - 1] + part * (kMemoryShares[i] - kMemoryShares[i - 1]);
}

}  // namespace foretrain
