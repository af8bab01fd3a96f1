// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>

#include "foretrain/base/csv.h"
#include "foretrain/base/near.h"
#include "foretrain/profile/detail/recording_readers.h"

namespace foretrain::profile {
namespace {

constexpr double kMiB = 1024.0 * 1024;
constexpr Seconds kNvidiaRefresh{1.0 / 6};  // the shortest that NVIDIA states
constexpr std::size_t kLongestTitle = 200;  // characters

constexpr auto kSmiColumns =
    std::to_array<KnownColumn>({{"utilization.gpu", "gpu_util", 1},
                                {"utilization.memory", "gpu_memory_util", 1},
                                {"memory.used", "memory_used", kMiB},
                                {"power.draw", "power", 1}});
// What tells GPUs apart, the best first.
constexpr std::array kSmiInstances{"index",      "uuid",   "gpu_uuid",  "pci.bus_id",
                                   "gpu_bus_id", "serial", "gpu_serial"};

void check_width(const std::vector<std::string>& cells, std::size_t columns,
                 const std::string& where) {
  if (cells.size() != columns) {
    refuse(where, std::to_string(cells.size()) + " fields where the first line has " +
                      std::to_string(columns));
  }
}

// Names as they are shown everywhere later: nothing in them can steer a terminal or break a file.
std::vector<std::string> own_titles(const std::vector<std::string>& cells,
                                    const std::string& where) {
  std::vector<std::string> titles;
  for (const std::string& cell : cells) {
    const std::string title = printable(trimmed(cell), kLongestTitle);
    if (title.empty()) {
      refuse(where, "column " + std::to_string(titles.size() + 1) + " has no name");
    }
    if (std::find(titles.begin(), titles.end(), title) != titles.end()) {
      refuse(where, "column '" + title + "' is there twice");
    }
    titles.push_back(title);
  }
  return titles;
}

std::optional<std::size_t> place_of(std::string_view title,
                                    const std::vector<std::string>& titles) {
  const auto found = std::find(titles.begin(), titles.end(), title);
  if (found == titles.end()) return std::nullopt;
  return static_cast<std::size_t>(found - titles.begin());
}

// "2026/11/16 02:47:09.123": seconds since an arbitrary day; dates count by their days.
double smi_time(std::string_view text, const std::string& where) {
  int year = 0, month = 0, day = 0;
  const std::string copy(text);
  int used = 0;
  if (std::sscanf(copy.c_str(), "%d/%d/%d %n", &year, &month, &day, &used) != 3 || used == 0) {
    refuse(where,
           "'" + printable(text) + "' is no timestamp; ask nvidia-smi for the field timestamp");
  }
  const auto date = std::chrono::year_month_day(std::chrono::year(year),
                                                std::chrono::month(static_cast<unsigned>(month)),
                                                std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) refuse(where, "'" + printable(text) + "' is no date");
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return 86400.0 * static_cast<double>(days) +
         clock_seconds(text.substr(static_cast<std::size_t>(used)), where);
}

}  // namespace

RecordingRows read_own(std::istream& in, const std::string& name) {
  CsvReader reader(in, name);
  std::vector<std::string> cells;
  reader.next(cells);
  const std::size_t columns = cells.size();
  RecordingRows rows;
  rows.names = own_titles(cells, line_of(name, 1));
  const auto time = place_of("time_s", rows.names);
  if (!time) refuse(line_of(name, 1), "no column is called time_s");
  rows.names.erase(rows.names.begin() + static_cast<std::ptrdiff_t>(*time));
  const std::size_t instance = find_instance("", line_of(name, 1), rows);
  std::vector<double> values(rows.names.size());
  while (reader.next(cells)) {
    const std::string where = line_of(name, reader.line());
    check_width(cells, columns, where);
    const double time_s = cell_number(cells[*time], where);
    if (!std::isfinite(time_s)) refuse(where, "time_s is no number");
    cells.erase(cells.begin() + static_cast<std::ptrdiff_t>(*time));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = cell_amount(cells[i], rows.names[i], 1, where);
    }
    add_row(instance, time_s, values, where, rows);
  }
  return rows;
}

RecordingRows read_smi(std::istream& in, const std::string& name) {
  CsvReader reader(in, name);
  std::vector<std::string> cells;
  reader.next(cells);
  std::vector<std::string> titles;
  for (const std::string& cell : cells) {
    const std::string_view title = trimmed(cell);
    titles.emplace_back(title.substr(0, title.find(" [")));
  }
  RecordingRows rows;
  rows.refresh = kNvidiaRefresh;
  const std::vector<const KnownColumn*> known = match(titles, kSmiColumns, rows);
  const auto time = place_of("timestamp", titles);
  if (!time) refuse(line_of(name, 1), "no column timestamp; ask nvidia-smi for it");
  std::optional<std::size_t> device;
  for (const char* title : kSmiInstances) device = device ? device : place_of(title, titles);
  if (!device) rows.notes.emplace_back("no column index: all rows are taken to be of one GPU");
  double before_s = std::numeric_limits<double>::quiet_NaN();
  while (reader.next(cells)) {
    const std::string where = line_of(name, reader.line());
    check_width(cells, titles.size(), where);
    const double time_s = smi_time(trimmed(cells[*time]), where);
    if (!device && time_s == before_s) {
      refuse(where, "a second row of one time; ask nvidia-smi for index, which tells GPUs apart");
    }
    before_s = time_s;
    const std::string_view of = device ? trimmed(cells[*device]) : std::string_view();
    add_row(find_instance(of, where, rows), time_s, known_values(cells, known, where), where, rows);
  }
  return rows;
}

}  // namespace foretrain::profile
