// SPDX-License-Identifier: Apache-2.0
#include "foretrain/knowledge/intervals.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"

namespace foretrain {

namespace {

constexpr int kVersion = 2;
constexpr std::size_t kMostEffects = 1000;
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

constexpr const char* kBase = "base";
constexpr const char* kCommunication = "communication";
constexpr const char* kHost = "host";

// The effect that an entry is about: of the base, a share, or a trait's word.
Effect& effect_of(JsonFields& fields, Spread& spread) {
  const std::string of = fields.required_text("of");
  if (of == kBase) return spread.base;
  if (of == kCommunication) return spread.communication;
  if (of == kHost) return spread.host;
  const auto which = trait_named(of);
  if (!which) throw bad(fields.where(), "'" + printable(of) + "' is no trait of a request");
  return spread.words[*which][fields.required_text("word")];
}

void read_effect(const Json& json, const std::string& where, Spread& spread) {
  JsonFields fields(json, where);
  Effect& effect = effect_of(fields, spread);
  for (const auto& [key, value] : {std::pair{"width", &effect.width}, {"skew", &effect.skew}}) {
    *value = fields.required_number(key);
    if (std::abs(*value) > kWidestEnd) throw bad(where, std::string("'") + key + "' is absurd");
  }
  fields.finish();
}

OrderedJson effect_json(const std::string& of, const std::string& word, const Effect& effect) {
  OrderedJson json{{"of", of}};
  if (!word.empty()) json["word"] = word;
  json["width"] = effect.width;
  json["skew"] = effect.skew;
  return json;
}

std::vector<OrderedJson> effects_json(const Spread& spread) {
  std::vector<OrderedJson> list{effect_json(kBase, "", spread.base)};
  for (const auto& [which, effects] : spread.words) {
    for (const auto& [text, effect] : effects) {
      list.push_back(effect_json(std::string(trait_name(which)), text, effect));
    }
  }
  list.push_back(effect_json(kCommunication, "", spread.communication));
  list.push_back(effect_json(kHost, "", spread.host));
  return list;
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
    throw bad(where, "not intervals of version 2; `foretrain fit intervals` writes them");
  }
  fields.ignore("notes");
  Intervals intervals;
  intervals.confidence = fields.required_number("confidence");
  if (!(intervals.confidence > 0 && intervals.confidence < 1)) {
    throw bad(where, "'confidence' must lie between 0 and 1");
  }
  for (const Json& effect : list(fields, "effects", kMostEffects)) {
    read_effect(effect, where + ", effects", intervals.spread);
  }
  intervals.lengths = read_group<LengthLimits>(fields.require("lengths"), where + ", lengths");
  intervals.distance =
      read_group<DistanceWeights>(fields.require("distance"), where + ", distance");
  for (const Json& one : list(fields, "measured", kMostMeasured)) {
    intervals.measured.push_back(read_case(one, where + ", measured"));
  }
  fields.finish();
  return intervals;
}

std::string write_intervals(const Intervals& intervals, std::span<const std::string> notes) {
  std::vector<OrderedJson> measured;
  for (const MeasuredCase& one : intervals.measured) measured.push_back(case_json(one));
  OrderedJson head{{"format", kIntervalsFormat}, {"version", kVersion}, {"notes", notes}};
  head["confidence"] = intervals.confidence;
  head["lengths"] = group_json(intervals.lengths);
  head["distance"] = group_json(intervals.distance);
  std::string text = json_text(head, 1);
  text.resize(text.size() - 2);  // "\n}"
  return text + ",\n \"effects\": " + lines(effects_json(intervals.spread)) +
         ",\n \"measured\": " + lines(measured) + "\n}\n";
}

bool is_measured(const Intervals& intervals, std::string_view chip) {
  return std::any_of(intervals.measured.begin(), intervals.measured.end(),
                     [&](const MeasuredCase& one) { return one.device == chip; });
}

}  // namespace foretrain
