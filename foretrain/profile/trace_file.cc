// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/trace_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <istream>
#include <limits>
#include <map>
#include <streambuf>

#include "foretrain/base/csv.h"
#include "foretrain/base/error.h"
#include "foretrain/base/median.h"
#include "foretrain/base/near.h"
#include "foretrain/profile/trace_rows.h"

namespace foretrain::profile {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kMostCells = 200e6;         // windows times columns
constexpr double kMostGap = 1000;            // windows per row, on average
constexpr std::size_t kMostBytes = 1 << 30;  // of a file
constexpr double kMiB = 1024.0 * 1024;
constexpr Seconds kNvidiaRefresh{1.0 / 6};  // the shortest that NVIDIA states

constexpr auto kSmiColumns =
    std::to_array<KnownColumn>({{"utilization.gpu", "gpu_util", 1},
                                {"utilization.memory", "gpu_memory_util", 1},
                                {"memory.used", "memory_used", kMiB},
                                {"power.draw", "power", 1}});

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::BadInput, where + ": " + what);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

void check_width(const std::vector<std::string>& cells, std::size_t columns,
                 const std::string& where) {
  if (cells.size() != columns) {
    fail(where, std::to_string(cells.size()) + " fields where the first line has " +
                    std::to_string(columns));
  }
}

TraceRows read_own(std::istream& in, const std::string& name) {
  CsvReader reader(in, name);
  std::vector<std::string> cells;
  reader.next(cells);
  const auto time = std::find(cells.begin(), cells.end(), "time_s") - cells.begin();
  const std::size_t columns = cells.size();
  TraceRows rows;
  for (std::size_t i = 0; i < columns; ++i) {
    if (static_cast<std::ptrdiff_t>(i) == time) continue;
    if (std::find(rows.names.begin(), rows.names.end(), cells[i]) != rows.names.end()) {
      fail(line_of(name, 1), "column '" + printable(cells[i]) + "' is there twice");
    }
    rows.names.push_back(cells[i]);
  }
  while (reader.next(cells)) {
    const std::string where = line_of(name, reader.line());
    check_width(cells, columns, where);
    TraceRow& row = rows.rows.emplace_back();
    row.line = reader.line();
    for (std::size_t i = 0; i < columns; ++i) {
      const double value = cell_number(cells[i], where);
      if (static_cast<std::ptrdiff_t>(i) != time)
        row.values.push_back(value);
      else
        row.time_s = value;
    }
    if (!std::isfinite(row.time_s)) fail(where, "time_s is no number");
  }
  return rows;
}

// "2026/11/16 02:47:09.123": seconds since an arbitrary day; dates count by their days.
double smi_time(std::string_view text, const std::string& where) {
  int year = 0, month = 0, day = 0;
  const std::string copy(text);
  int used = 0;
  if (std::sscanf(copy.c_str(), "%d/%d/%d %n", &year, &month, &day, &used) != 3 || used == 0) {
    fail(where,
         "'" + printable(text) + "' is no timestamp; ask nvidia-smi for the field timestamp");
  }
  const auto date = std::chrono::year_month_day(std::chrono::year(year),
                                                std::chrono::month(static_cast<unsigned>(month)),
                                                std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) fail(where, "'" + printable(text) + "' is no date");
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return 86400.0 * static_cast<double>(days) +
         clock_seconds(text.substr(static_cast<std::size_t>(used)), where);
}

TraceRows read_smi(std::istream& in, const std::string& name) {
  CsvReader reader(in, name);
  std::vector<std::string> cells;
  reader.next(cells);
  const std::size_t columns = cells.size();
  std::vector<const KnownColumn*> known(columns, nullptr);
  std::size_t time = columns, instance = columns;
  TraceRows rows;
  rows.refresh = kNvidiaRefresh;
  for (std::size_t i = 0; i < columns; ++i) {
    const std::string_view title = trimmed(cells[i]);
    if (title == "timestamp") time = i;
    if (title == "index" || title == "uuid" || title == "gpu_uuid") instance = i;
    for (const KnownColumn& column : kSmiColumns) {
      if (title.substr(0, title.find(" [")) == column.title) known[i] = &column;
    }
    if (known[i] != nullptr) rows.names.emplace_back(known[i]->resource);
  }
  if (time == columns) fail(line_of(name, 1), "no column timestamp; ask nvidia-smi for it");
  while (reader.next(cells)) {
    const std::string where = line_of(name, reader.line());
    check_width(cells, columns, where);
    TraceRow& row = rows.rows.emplace_back();
    row.line = reader.line();
    row.time_s = smi_time(trimmed(cells[time]), where);
    if (instance < columns) row.instance = trimmed(cells[instance]);
    for (std::size_t i = 0; i < columns; ++i) {
      if (known[i] != nullptr) {
        row.values.push_back(cell_number(cells[i], where) * known[i]->factor);
      }
    }
  }
  return rows;
}

// The instance with the highest mean of the first column.
std::string busiest(const TraceRows& rows) {
  std::map<std::string, std::pair<double, double>> sums;
  for (const TraceRow& row : rows.rows) {
    auto& [sum, count] = sums[row.instance];
    if (row.values.empty() || !std::isfinite(row.values.front())) continue;
    sum += row.values.front();
    ++count;
  }
  std::string best;
  double highest = -1;
  for (const auto& [instance, sum] : sums) {
    const double mean = sum.second > 0 ? sum.first / sum.second : 0;
    if (mean > highest) best = instance;
    highest = std::max(highest, mean);
  }
  return best;
}

// The usual distance between two rows; 10 ms where there is only one.
Seconds usual_window(const std::vector<TraceRow>& rows, const std::string& name) {
  std::vector<double> distances;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const double distance = rows[i].time_s - rows[i - 1].time_s;
    if (distance < 0) fail(line_of(name, rows[i].line), "time runs backwards");
    if (distance > 0) distances.push_back(distance);
  }
  if (distances.empty()) return Seconds{0.01};
  return Seconds{std::round(median(std::move(distances)) * 1e9) / 1e9};  // times in files are rounded
}

// Rows into windows: several in one window are averaged (those of one time added where they add
// up).
void place_rows(const TraceRows& rows, std::size_t count, Trace& trace) {
  const double first = rows.rows.front().time_s;
  for (std::size_t c = 0; c < rows.names.size(); ++c) {
    TraceColumn column{.name = rows.names[c], .unit = unit_of(rows.names[c])};
    column.samples.assign(count, 0);
    std::vector<double> times(count, 0);
    double before = kNan;
    for (const TraceRow& row : rows.rows) {
      const auto window =
          static_cast<std::size_t>(std::llround((row.time_s - first) / trace.window.count()));
      if (!std::isfinite(row.values[c])) continue;
      column.samples[window] += row.values[c];
      if (!rows.adds_up || row.time_s != before) ++times[window];
      before = row.time_s;
    }
    for (std::size_t i = 0; i < count; ++i) {
      column.samples[i] = times[i] > 0 ? column.samples[i] / times[i] : kNan;
    }
    if (column.unit == "%") column.refresh = rows.refresh;
    trace.columns.push_back(std::move(column));
  }
}

Trace assemble(TraceRows rows, const std::string& name) {
  Trace trace{.name = name};
  if (!rows.adds_up && !rows.rows.empty()) {
    const std::string chosen = busiest(rows);
    const auto others = [&](const TraceRow& row) { return row.instance != chosen; };
    if (std::erase_if(rows.rows, others) > 0) {
      trace.notes.push_back("the busiest of several devices is shown: " + printable(chosen));
    }
  }
  trace.window = usual_window(rows.rows, name);
  double windows = 0;
  if (!rows.rows.empty()) {
    windows =
        std::round((rows.rows.back().time_s - rows.rows.front().time_s) / trace.window.count()) + 1;
  }
  if (windows * static_cast<double>(rows.names.size()) > kMostCells ||
      windows > kMostGap * static_cast<double>(rows.rows.size())) {
    fail(name, "covers too long a time for the usual distance of its rows");
  }
  if (rows.rows.empty()) {
    for (const std::string& column : rows.names) {
      trace.columns.push_back({.name = column, .unit = unit_of(column)});
    }
    return trace;
  }
  place_rows(rows, static_cast<std::size_t>(windows), trace);
  return trace;
}

// A text that tells how much of it was read.
class WatchedText : public std::streambuf {
 public:
  WatchedText(std::string& text, const ReadOptions& options) : text_(text), options_(options) {}

 protected:
  int_type underflow() override {
    constexpr std::size_t kPiece = 1 << 16;
    if (options_.on_read && !text_.empty()) {
      options_.on_read(place_, static_cast<double>(place_) / static_cast<double>(text_.size()));
    }
    if (place_ == text_.size()) return traits_type::eof();
    const std::size_t end = std::min(place_ + kPiece, text_.size());
    setg(text_.data() + place_, text_.data() + place_, text_.data() + end);
    place_ = end;
    return traits_type::to_int_type(*gptr());
  }

 private:
  std::string& text_;
  const ReadOptions& options_;
  std::size_t place_ = 0;
};

std::string read_all(std::istream& in, const std::string& name) {
  std::string text;
  std::vector<char> piece(1 << 16);
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > kMostBytes) fail(name, "is larger than 1 GiB; cut it into parts");
  }
  if (in.bad()) throw Error(ErrorKind::Io, name + ": cannot be read");
  return text;
}

}  // namespace

std::string unit_of(const std::string& resource) {
  if (resource.ends_with("_util")) return "%";
  if (resource.ends_with("_used")) return "B";
  return resource == "power" ? "W" : "B/s";
}

Trace read_trace(std::istream& in, const std::string& name, const ReadOptions& options) {
  std::string text = read_all(in, name);
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  const std::string first = text.substr(0, text.find('\n'));
  WatchedText watched(text, options);
  std::istream again(&watched);
  const auto says = [&](std::string_view word) { return first.find(word) != std::string::npos; };
  if (says("time_s")) return assemble(read_own(again, name), name);
  if (says("utilization.") || says("timestamp")) return assemble(read_smi(again, name), name);
  if (first.starts_with("#Entity") || first.starts_with("# Entity")) {
    return assemble(read_dcgm(again, name, options), name);
  }
  if (first.starts_with("#")) return assemble(read_dmon(again, name, options), name);
  if (says("Linux") || text.find("IFACE") != std::string::npos) {
    return assemble(read_sar(again, name, options), name);
  }
  fail(name,
       "no trace: it begins neither with a line of columns that has time_s, nor as "
       "nvidia-smi, dmon, dcgmi dmon or sar -n DEV write");
}

std::string trace_csv(const Trace& trace) {
  std::string text = "time_s";
  for (const TraceColumn& column : trace.columns) text += "," + csv_field(column.name);
  text += '\n';
  std::array<char, 64> digits{};
  const auto put = [&](double value) {
    if (!std::isfinite(value)) return;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    text.append(digits.data(), end);
  };
  // Times as products of a rounded window would print with digits that mean nothing.
  const auto time_s = [&](std::size_t i) {
    return std::round(static_cast<double>(i) * trace.window.count() * 1e9) / 1e9;
  };
  for (std::size_t i = 0; i < length_of(trace); ++i) {
    put(time_s(i));
    for (const TraceColumn& column : trace.columns) {
      text += ',';
      put(column.samples[i]);
    }
    text += '\n';
  }
  return text;
}

}  // namespace foretrain::profile
