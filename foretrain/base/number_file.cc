// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/number_file.h"

#include <algorithm>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"

namespace foretrain {
namespace {

constexpr int kVersion = 1;
constexpr double kMost = 1e15;

SourcedNumber read_number(const std::string& group, const std::string& name, const Json& entry,
                          const std::string& where) {
  SourcedNumber number{group, name, 0, ""};
  const std::string place = where + ": " + printable(group) + "." + printable(name);
  if (entry.is_object()) {
    JsonFields fields(entry, place);
    number.value = fields.required_number("value");
    number.source = fields.required_text("source");
    fields.finish();
  } else if (entry.is_number()) {
    number.value = entry.get<double>();
  } else {
    throw Error(ErrorKind::BadInput,
                place + R"( is neither a number nor {"value": ..., "source": ...})");
  }
  if (!(number.value >= 0 && number.value <= kMost)) {
    throw Error(ErrorKind::BadInput, place + " is not a number from 0 to 1e15");
  }
  return number;
}

}  // namespace

std::vector<SourcedNumber> read_number_file(std::string_view text, const std::string& where,
                                            std::string_view format,
                                            std::span<const std::string_view> others) {
  const Json file = parse_json(text, where);
  JsonFields top(file, where);
  if (top.required_text("format") != format || top.required_number("version") != kVersion) {
    throw Error(ErrorKind::BadInput,
                where + ": not a file of format " + std::string(format) + ", version 1");
  }
  std::vector<SourcedNumber> numbers;
  for (const auto& [group, entries] : file.items()) {
    if (group == "format" || group == "version" || group == "notes" ||
        std::find(others.begin(), others.end(), group) != others.end()) {
      continue;
    }
    if (!entries.is_object()) {
      throw Error(ErrorKind::BadInput, where + ": '" + printable(group) + "' is not a group");
    }
    for (const auto& [name, entry] : entries.items()) {
      numbers.push_back(read_number(group, name, entry, where));
    }
  }
  return numbers;
}

void assign_numbers(std::span<const SourcedNumber> numbers, std::span<const NumberPlace> places,
                    const std::string& where) {
  const auto same = [](const auto& a, const auto& b) {
    return a.group == b.group && a.name == b.name;
  };
  for (const NumberPlace& place : places) {
    const auto found = std::find_if(numbers.begin(), numbers.end(),
                                    [&](const auto& number) { return same(number, place); });
    if (found == numbers.end()) {
      throw Error(ErrorKind::BadInput,
                  where + ": " + place.group + "." + place.name + " is missing");
    }
    *place.value = found->value;
  }
  for (const SourcedNumber& number : numbers) {
    if (std::any_of(places.begin(), places.end(),
                    [&](const auto& place) { return same(number, place); })) {
      continue;
    }
    std::vector<std::string> known;
    for (const NumberPlace& place : places) known.push_back(place.group + "." + place.name);
    const std::string name = number.group + "." + number.name;
    throw Error(ErrorKind::BadInput,
                where + ": unknown number '" + printable(name) + "'" + did_you_mean(name, known));
  }
}

std::string write_number_file(std::string_view format, std::span<const NumberPlace> places,
                              std::span<const std::string> notes) {
  OrderedJson file{{"format", format}, {"version", kVersion}, {"notes", notes}};
  for (const NumberPlace& place : places) file[place.group][place.name] = *place.value;
  return json_text(file, 1) + "\n";
}

}  // namespace foretrain
