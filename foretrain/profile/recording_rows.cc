// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/detail/recording_rows.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/profile/recording.h"

namespace foretrain::profile {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kDay = 86400;
constexpr double kMostNumber = 1e18;               // sums of them stay numbers
constexpr double kMostPercent = 1e6;               // ten thousand times the allotment
constexpr std::size_t kMostNumbers = 100'000'000;  // of all rows: 800 MB
constexpr std::size_t kMostInstances = 256;

}  // namespace

void refuse(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::BadInput, where + ": " + what);
}

std::string line_of(const std::string& name, std::size_t line) {
  return name + ", line " + std::to_string(line);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::size_t find_instance(std::string_view name, const std::string& where, RecordingRows& rows) {
  const auto found = std::find_if(rows.instances.begin(), rows.instances.end(),
                                  [&](const Instance& instance) { return instance.name == name; });
  const auto place = static_cast<std::size_t>(found - rows.instances.begin());
  if (found != rows.instances.end()) return place;
  if (place == kMostInstances) refuse(where, "more than 256 devices in one recording");
  rows.instances.push_back({.name = std::string(name)});
  return place;
}

void add_row(std::size_t instance, double time_s, std::span<const double> values,
             const std::string& where, RecordingRows& rows) {
  Instance& of = rows.instances[instance];
  if (time_s < of.last_s) refuse(where, "time runs backwards");
  if (rows.time_s.size() >= kMostNumbers / (values.size() + 1)) {
    refuse(where, "more than 100 million numbers up to here; cut the recording into parts");
  }
  of.last_s = time_s;
  ++of.rows;
  rows.values.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) rows.values[i].push_back(values[i]);
  rows.time_s.push_back(time_s);
  rows.instance_of.push_back(static_cast<std::uint16_t>(instance));
}

std::vector<const KnownColumn*> match(std::span<const std::string> titles,
                                      std::span<const KnownColumn> known, RecordingRows& rows) {
  std::vector<const KnownColumn*> result(titles.size(), nullptr);
  for (std::size_t i = 0; i < titles.size(); ++i) {
    for (const KnownColumn& column : known) {
      const bool taken =
          std::find(rows.names.begin(), rows.names.end(), column.resource) != rows.names.end();
      if (titles[i] != column.title || taken) continue;
      result[i] = &column;
      rows.names.emplace_back(column.resource);
    }
  }
  return result;
}

std::vector<double> known_values(std::span<const std::string> cells,
                                 std::span<const KnownColumn* const> columns,
                                 const std::string& where) {
  std::vector<double> values;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] == nullptr) continue;
    values.push_back(cell_amount(cells[i], columns[i]->resource, columns[i]->factor, where));
  }
  return values;
}

double cell_number(std::string_view text, const std::string& where) {
  text = trimmed(text);
  for (const std::string_view absent : {"", "-", "nan", "NaN", "N/A", "[N/A]", "[Not Supported]",
                                        "[Unknown Error]", "inf", "-inf"}) {
    if (text == absent) return kNan;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool apart = end == text.data() + text.size() || *end == ' ';
  if (error != std::errc() || !apart || !(std::abs(value) <= kMostNumber)) {
    refuse(where, "'" + printable(text) + "' is no number that a recording can hold");
  }
  return value;
}

double cell_amount(std::string_view text, std::string_view resource, double factor,
                   const std::string& where) {
  const double value = cell_number(text, where) * factor;
  const bool too_much = value > kMostPercent && unit_of(resource) == "%";
  if (value < 0 || too_much) {
    refuse(where, "'" + printable(trimmed(text)) + "' can be no " + std::string(resource));
  }
  return value;
}

double clock_seconds(std::string_view text, const std::string& where) {
  constexpr std::array<double, 3> kEnds{24, 60, 61};  // a leap second
  std::array<double, 3> parts{};
  const char* at = text.data();
  const char* const stop = text.data() + text.size();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto [end, error] = std::from_chars(at, stop, parts[i]);
    const bool separated = i == 2 || (end != stop && *end == ':');
    const bool of_a_day = parts[i] >= 0 && parts[i] < kEnds[i];  // NaN is not
    if (error != std::errc() || !separated || !of_a_day) {
      refuse(where, "'" + printable(text) + "' is no time of day");
    }
    at = i == 2 ? end : end + 1;
  }
  const std::string_view half(at, static_cast<std::size_t>(stop - at));
  if (half.find("PM") != half.npos && parts[0] < 12) parts[0] += 12;
  if (half.find("AM") != half.npos && parts[0] == 12) parts[0] = 0;
  return 3600 * parts[0] + 60 * parts[1] + parts[2];
}

double DayClock::next(double second_of_day) {
  if (second_of_day + days_s_ + kDay / 2 < before_s_) days_s_ += kDay;
  before_s_ = second_of_day + days_s_;
  return before_s_;
}

}  // namespace foretrain::profile
