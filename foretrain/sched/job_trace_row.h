// SPDX-License-Identifier: Apache-2.0
// One line of a CSV trace, by the names of its columns; and the formats made of such lines.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/sched/job.h"

namespace foretrain::sched {

inline constexpr double kLongest = 1e12;  // seconds; what is longer is a mistake
inline constexpr int kMostDevicesOfJob = 1'000'000;

// Throws Error(BadInput) that begins with `where`.
double parse_number(std::string_view text, const std::string& where, const std::string& column);
int check_devices(double devices, const std::string& where);
double check_time(double seconds, const std::string& where, const std::string& what);

class JobTraceRow {
 public:
  JobTraceRow(const std::map<std::string, std::size_t>& columns,
              const std::vector<std::string>& fields, std::string where)
      : columns_(columns), fields_(fields), where_(std::move(where)) {}

  const std::string& where() const { return where_; }
  bool has(const std::string& column) const { return !text(column).empty(); }
  const std::string& text(const std::string& column) const;  // empty where there is none
  double number(const std::string& column) const;            // required
  std::optional<double> maybe(const std::string& column) const;
  int devices(const std::string& column) const;
  Seconds time(const std::string& column) const;  // required, 0 or more

 private:
  const std::map<std::string, std::size_t>& columns_;
  const std::vector<std::string>& fields_;
  std::string where_;
};

// A CSV format: recognised by columns that it must have. `read` fills a job, or says why the
// line is left out ("asks for no GPU"), which is counted and noted.
struct JobTraceFormat {
  std::string_view name;
  std::vector<std::string> columns;
  std::optional<std::string> (*read)(const JobTraceRow& row, Job& job);
  std::vector<std::string> notes;  // what the format always assumes
};

std::optional<std::string> read_csv_job(const JobTraceRow& row, Job& job);
std::optional<std::string> read_philly_job(const JobTraceRow& row, Job& job);
std::optional<std::string> read_alibaba_job(const JobTraceRow& row, Job& job);
std::optional<std::string> read_tiresias_job(const JobTraceRow& row, Job& job);
std::optional<std::string> read_muri_job(const JobTraceRow& row, Job& job);
std::optional<std::string> read_pollux_job(const JobTraceRow& row, Job& job);

// A line of the JSON format. Throws Error(BadInput).
Job read_json_job(std::string_view line, const std::string& where);

}  // namespace foretrain::sched
