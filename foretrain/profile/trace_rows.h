// SPDX-License-Identifier: Apache-2.0
// Between the readers of the tools' formats and the trace: rows as they stand in a file.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/base/seconds.h"
#include "foretrain/profile/trace_file.h"

namespace foretrain::profile {

struct TraceRow {
  std::size_t line = 0;
  double time_s = 0;
  std::string instance;        // which GPU or interface; "" where there is one only
  std::vector<double> values;  // as many as names
};

struct TraceRows {
  std::vector<std::string> names;  // of resources
  std::vector<TraceRow> rows;
  bool adds_up = false;  // instances add up; else the busiest one counts
  Seconds refresh{0};    // of the source's utilisation
};

// Which resource a tool's column is, and what its numbers must be multiplied by.
struct KnownColumn {
  std::string_view title;
  const char* resource;
  double factor;
};

// A number with an optional unit behind it ("98 %", "1024 MiB"); NaN for "", "-", "N/A" and the
// like. Throws Error(BadInput) with `where` in front.
double cell_number(std::string_view text, const std::string& where);

// The second of the day of "14:03:07", "02:03:07 PM" or "14:03:07.250".
double clock_seconds(std::string_view text, const std::string& where);

// Times of a day go on over midnight: adds a day as often as time would run backwards.
void unroll_midnight(std::vector<TraceRow>& rows);

// "file x.csv, line 7".
std::string line_of(const std::string& name, std::size_t line);

// Formats of blank-separated columns; `first` is the text up to the line that tells them apart.
TraceRows read_dmon(std::istream& in, const std::string& name, const ReadOptions& options);
TraceRows read_dcgm(std::istream& in, const std::string& name, const ReadOptions& options);
TraceRows read_sar(std::istream& in, const std::string& name, const ReadOptions& options);

}  // namespace foretrain::profile
