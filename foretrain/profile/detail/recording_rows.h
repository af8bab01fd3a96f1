// SPDX-License-Identifier: Apache-2.0
// Between the readers of the tools' formats and the recording: rows as they stand in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/base/seconds.h"

namespace foretrain::profile {

// What rows are of where a file has several: a GPU. Its name is "" where the file does not tell.
struct Instance {
  std::string name{};
  std::size_t rows = 0;
  double last_s = -std::numeric_limits<double>::infinity();  // the time of its last row
};

// Rows by columns, since the rows of a day are millions.
struct RecordingRows {
  std::vector<std::string> names{};           // of resources
  std::vector<std::vector<double>> values{};  // of each resource, one per row; NaN: not known
  std::vector<double> time_s{};               // of each row; does not fall within an instance
  std::vector<std::uint16_t> instance_of{};   // of each row, its place in `instances`
  std::vector<Instance> instances{};
  std::vector<std::string> notes{};
  bool adds_up = false;  // rows of one time add up; else they are averaged
  Seconds refresh{0};    // of the source's utilisation
};

// The place of an instance, which is added where it is new. Throws Error(BadInput) where there are
// more than a machine has.
std::size_t find_instance(std::string_view name, const std::string& where, RecordingRows& rows);

// One row, with as many values as there are names. Throws Error(BadInput) where time runs backwards
// and beyond 100 million numbers.
void add_row(std::size_t instance, double time_s, std::span<const double> values,
             const std::string& where, RecordingRows& rows);

// Which resource a tool's column is, and what its numbers must be multiplied by.
struct KnownColumn {
  std::string_view title;
  const char* resource;
  double factor;
};

// For each title the column it is, null where it is not known; names go into `rows`. Of two that
// are the same resource the first counts.
std::vector<const KnownColumn*> match(std::span<const std::string> titles,
                                      std::span<const KnownColumn> known, RecordingRows& rows);

// The values of the columns that are known. `cells` are as many as `columns`.
std::vector<double> known_values(std::span<const std::string> cells,
                                 std::span<const KnownColumn* const> columns,
                                 const std::string& where);

// A number with an optional unit behind it ("98 %", "1024 MiB"); NaN for "", "-", "N/A" and the
// like. Throws Error(BadInput) with `where` in front.
double cell_number(std::string_view text, const std::string& where);

// The same times `factor`, where it can be an amount of the resource: nothing is negative, and no
// share is above a million percent (it may be above 100: cores beyond the allotment).
double cell_amount(std::string_view text, std::string_view resource, double factor,
                   const std::string& where);

// The second of the day of "14:03:07", "02:03:07 PM" or "14:03:07.250".
double clock_seconds(std::string_view text, const std::string& where);

// Times of a day that go on over midnight: a day is added as often as time would run backwards.
class DayClock {
 public:
  double next(double second_of_day);

 private:
  double days_s_ = 0;
  double before_s_ = 0;
};

// Without blanks, tabs and carriage returns around it.
std::string_view trimmed(std::string_view text);

// "file x.csv, line 7".
std::string line_of(const std::string& name, std::size_t line);

// Throws Error(BadInput).
[[noreturn]] void refuse(const std::string& where, const std::string& what);

}  // namespace foretrain::profile
