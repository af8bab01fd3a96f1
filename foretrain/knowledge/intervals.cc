// SPDX-License-Identifier: Apache-2.0
#include "foretrain/knowledge/intervals.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"

namespace foretrain {

namespace {

constexpr int kVersion = 1;
constexpr double kWidest = 10;  // logarithm; nothing is predicted that badly
constexpr std::size_t kMostCells = 10'000;
constexpr std::size_t kMostMeasured = 10'000;

Error bad(const std::string& where, const std::string& what) {
  return Error(ErrorKind::BadInput, where + ": " + what);
}

const Json& list(JsonFields& fields, const std::string& key, std::size_t most) {
  const Json& value = fields.require(key);
  if (!value.is_array() || value.size() > most) {
    throw bad(fields.where(), "'" + key + "' must be a list of at most " + std::to_string(most));
  }
  return value;
}

std::int64_t count(JsonFields& fields, const std::string& key) {
  constexpr std::int64_t kMost = 1'000'000'000;
  const std::int64_t value = fields.integer(key).value_or(0);
  if (value < 1 || value > kMost) throw bad(fields.where(), "'" + key + "' must be a count");
  return value;
}

double end(JsonFields& fields, const std::string& key) {
  const double value = fields.required_number(key);
  if (std::abs(value) > kWidest) throw bad(fields.where(), "'" + key + "' is absurdly far off");
  return value;
}

void read_cell(const Json& json, const std::string& where, Intervals& intervals) {
  JsonFields fields(json, where);
  IntervalCell cell;
  cell.low = end(fields, "low");
  cell.high = end(fields, "high");
  cell.rows = static_cast<std::size_t>(count(fields, "rows"));
  cell.sources = static_cast<std::size_t>(count(fields, "sources"));
  if (cell.low > cell.high) throw bad(where, "'low' is above 'high'");
  intervals.cells[fields.required_text("regime")] = cell;
  fields.finish();
}

// A case is a list: its eight words, then the four counts, in the order of MeasuredCase.
constexpr std::array kWords{&MeasuredCase::model,     &MeasuredCase::family,
                            &MeasuredCase::device,    &MeasuredCase::architecture,
                            &MeasuredCase::precision, &MeasuredCase::mode,
                            &MeasuredCase::framework, &MeasuredCase::source};

MeasuredCase read_case(const Json& json, const std::string& where) {
  constexpr std::size_t kCounts = 4;
  constexpr std::int64_t kMost = 1'000'000'000;
  bool good = json.is_array() && json.size() == kWords.size() + kCounts;
  for (std::size_t i = 0; good && i < json.size(); ++i) {
    good = i < kWords.size() ? json[i].is_string()
                             : json[i].is_number_integer() && json[i] >= 1 && json[i] <= kMost;
  }
  if (!good) throw bad(where, "a case is a list of eight words and four counts");
  MeasuredCase one;
  for (std::size_t i = 0; i < kWords.size(); ++i) one.*kWords[i] = json[i].get<std::string>();
  one.least_workers = json[kWords.size()].get<int>();
  one.most_workers = json[kWords.size() + 1].get<int>();
  one.least_batch = json[kWords.size() + 2].get<std::int64_t>();
  one.most_batch = json[kWords.size() + 3].get<std::int64_t>();
  return one;
}

OrderedJson case_json(const MeasuredCase& one) {
  OrderedJson list = OrderedJson::array();
  for (const auto member : kWords) list.push_back(one.*member);
  list.push_back(one.least_workers);
  list.push_back(one.most_workers);
  list.push_back(one.least_batch);
  list.push_back(one.most_batch);
  return list;
}

struct Place {
  const char* key;
  double* value;
};

std::vector<Place> places(LengthLimits& l) {
  return {{"tiny_s", &l.tiny_s}, {"short_s", &l.short_s}, {"medium_s", &l.medium_s}};
}

std::vector<Place> places(DistanceWeights& d) {
  return {
      {"family", &d.family},       {"model", &d.model},         {"architecture", &d.architecture},
      {"device", &d.device},       {"precision", &d.precision}, {"mode", &d.mode},
      {"framework", &d.framework}, {"workers", &d.workers},     {"batch", &d.batch}};
}

template <typename Group>
Group read_group(const Json& json, const std::string& where) {
  constexpr double kMost = 1e6;
  JsonFields fields(json, where);
  Group group;
  for (const Place& place : places(group)) {
    *place.value = fields.required_number(place.key);
    if (!(*place.value >= 0 && *place.value <= kMost)) {
      throw bad(where, std::string("'") + place.key + "' is not a number from 0 to 1e6");
    }
  }
  group.source = fields.required_text("source");
  fields.finish();
  return group;
}

template <typename Group>
OrderedJson group_json(Group group) {
  OrderedJson json;
  for (const Place& place : places(group)) json[place.key] = *place.value;
  json["source"] = group.source;
  return json;
}

// One entry per line: the file is read by people too.
template <typename Entries>
std::string lines(const Entries& entries) {
  std::string text;
  for (const OrderedJson& entry : entries)
    text += (text.empty() ? "\n  " : ",\n  ") + json_text(entry);
  return "[" + text + "\n ]";
}

}  // namespace

Intervals read_intervals(std::string_view text, const std::string& where) {
  const Json file = parse_json(text, where);
  JsonFields fields(file, where);
  if (fields.required_text("format") != kIntervalsFormat ||
      fields.required_number("version") != kVersion) {
    throw bad(where, "not intervals of version 1; `foretrain fit intervals` writes them");
  }
  fields.ignore("notes");
  Intervals intervals;
  intervals.confidence = fields.required_number("confidence");
  if (!(intervals.confidence > 0 && intervals.confidence < 1)) {
    throw bad(where, "'confidence' must lie between 0 and 1");
  }
  for (const Json& name : list(fields, "traits", kTraits)) {
    const auto which = trait_named(name.is_string() ? name.get<std::string>() : "");
    if (!which) throw bad(where, "'traits' has an entry that is no trait of a request");
    intervals.traits.push_back(*which);
  }
  intervals.lengths = read_group<LengthLimits>(fields.require("lengths"), where + ", lengths");
  intervals.distance =
      read_group<DistanceWeights>(fields.require("distance"), where + ", distance");
  for (const Json& cell : list(fields, "cells", kMostCells)) {
    read_cell(cell, where + ", cells", intervals);
  }
  for (const Json& one : list(fields, "measured", kMostMeasured)) {
    intervals.measured.push_back(read_case(one, where + ", measured"));
  }
  fields.finish();
  return intervals;
}

std::string write_intervals(const Intervals& intervals, std::span<const std::string> notes) {
  std::vector<OrderedJson> cells;
  for (const auto& [name, cell] : intervals.cells) {
    cells.push_back({{"regime", name},
                     {"low", cell.low},
                     {"high", cell.high},
                     {"rows", cell.rows},
                     {"sources", cell.sources}});
  }
  std::vector<OrderedJson> measured;
  for (const MeasuredCase& one : intervals.measured) measured.push_back(case_json(one));
  OrderedJson traits = OrderedJson::array();
  for (const Trait which : intervals.traits) traits.push_back(trait_name(which));
  OrderedJson head{{"format", kIntervalsFormat}, {"version", kVersion}, {"notes", notes}};
  head["confidence"] = intervals.confidence;
  head["traits"] = traits;
  head["lengths"] = group_json(intervals.lengths);
  head["distance"] = group_json(intervals.distance);
  std::string text = json_text(head, 1);
  text.resize(text.size() - 2);  // "\n}"
  return text + ",\n \"cells\": " + lines(cells) + ",\n \"measured\": " + lines(measured) + "\n}\n";
}

std::string cell_name(std::span<const Trait> traits, std::size_t count, const Regime& regime) {
  std::string name;
  for (std::size_t t = 0; t < count; ++t) name += (t == 0 ? "" : "/") + word(regime, traits[t]);
  return name;
}

const IntervalCell* find_cell(const Intervals& intervals, const Regime& regime) {
  for (std::size_t count = intervals.traits.size() + 1; count-- > 0;) {
    const auto found = intervals.cells.find(cell_name(intervals.traits, count, regime));
    if (found != intervals.cells.end()) return &found->second;
  }
  return nullptr;
}

bool is_measured(const Intervals& intervals, std::string_view chip) {
  return std::any_of(intervals.measured.begin(), intervals.measured.end(),
                     [&](const MeasuredCase& one) { return one.device == chip; });
}

}  // namespace foretrain
