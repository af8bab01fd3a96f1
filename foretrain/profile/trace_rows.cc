// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/trace_rows.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <istream>
#include <limits>
#include <span>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::profile {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kMiB = 1024.0 * 1024;
constexpr double kDay = 86400;
constexpr double kMostNumber = 1e18;  // sums of them stay numbers
constexpr Seconds kUsualInterval{1};  // of dmon
constexpr std::size_t kLongestLine = 1 << 16;

constexpr auto kDmonColumns = std::to_array<KnownColumn>({{"sm", "gpu_util", 1},
                                                          {"mem", "gpu_memory_util", 1},
                                                          {"fb", "memory_used", kMiB},
                                                          {"pwr", "power", 1}});
constexpr auto kDcgmColumns = std::to_array<KnownColumn>({{"GPUTL", "gpu_util", 1},
                                                          {"GRACT", "gpu_util", 100},
                                                          {"MCUTL", "gpu_memory_util", 1},
                                                          {"DRAMA", "gpu_memory_util", 100},
                                                          {"FBUSD", "memory_used", kMiB},
                                                          {"POWER", "power", 1}});

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::BadInput, where + ": " + what);
}

std::vector<std::string> words(const std::string& line) {
  std::vector<std::string> result;
  for (std::size_t at = 0; (at = line.find_first_not_of(" \t\r", at)) != std::string::npos;) {
    const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    result.push_back(line.substr(at, end - at));
    at = end;
  }
  return result;
}

bool next_line(std::istream& in, const std::string& name, std::size_t& number, std::string& line) {
  if (!std::getline(in, line)) return false;
  ++number;
  if (line.size() > kLongestLine) fail(line_of(name, number), "a line of more than 64 KiB");
  return true;
}

// Which of a tool's columns are known; the first of two that are the same resource wins.
std::vector<const KnownColumn*> match(const std::vector<std::string>& titles,
                                      std::span<const KnownColumn> known, TraceRows& rows) {
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

// "GPU 0" is one word of dcgmi's lines.
std::vector<std::string> dcgm_words(const std::string& line) {
  std::vector<std::string> cells = words(line);
  if (cells.size() > 1 && cells.front().find_first_of("0123456789") == std::string::npos) {
    cells.front() += " " + cells[1];
    cells.erase(cells.begin() + 1);
  }
  return cells;
}

void put_values(const std::vector<std::string>& cells,
                const std::vector<const KnownColumn*>& columns, const std::string& where,
                TraceRow& row) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] == nullptr) continue;
    row.values.push_back(cell_number(cells[i], where) * columns[i]->factor);
  }
}

// Rows without a time: each instance's n-th row is of the time n.
class RowCounter {
 public:
  explicit RowCounter(const ReadOptions& options)
      : interval_s_(options.interval.value_or(kUsualInterval).count()) {}
  double next(const std::string& instance) {
    for (auto& [name, rows] : seen_) {
      if (name == instance) return interval_s_ * rows++;
    }
    seen_.emplace_back(instance, 1);
    return 0;
  }

 private:
  double interval_s_;
  std::vector<std::pair<std::string, double>> seen_;
};

}  // namespace

std::string line_of(const std::string& name, std::size_t line) {
  return name + ", line " + std::to_string(line);
}

double cell_number(std::string_view text, const std::string& where) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return kNan;
  text.remove_prefix(first);
  for (const std::string_view absent :
       {"-", "nan", "NaN", "N/A", "[N/A]", "[Not Supported]", "[Unknown Error]", "inf", "-inf"}) {
    if (text.substr(0, text.find_last_not_of(" \t\r") + 1) == absent) return kNan;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool apart = end == text.data() + text.size() || *end == ' ' || *end == '\r';
  if (error != std::errc() || !apart || std::abs(value) > kMostNumber) {
    fail(where, "'" + printable(text) + "' is no number that a trace can hold");
  }
  return value;
}

double clock_seconds(std::string_view text, const std::string& where) {
  double parts[3] = {};
  const char* at = text.data();
  const char* const stop = text.data() + text.size();
  for (int i = 0; i < 3; ++i) {
    const auto [end, error] = std::from_chars(at, stop, parts[i]);
    const bool separated = i == 2 || (end != stop && *end == ':');
    if (error != std::errc() || !separated || parts[i] < 0) {
      fail(where, "'" + printable(text) + "' is no time of day");
    }
    at = i == 2 ? end : end + 1;
  }
  const std::string_view half(at, static_cast<std::size_t>(stop - at));
  if (half.find("PM") != half.npos && parts[0] < 12) parts[0] += 12;
  if (half.find("AM") != half.npos && parts[0] == 12) parts[0] = 0;
  return 3600 * parts[0] + 60 * parts[1] + parts[2];
}

void unroll_midnight(std::vector<TraceRow>& rows) {
  double days = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i > 0 && rows[i].time_s + days + kDay / 2 < rows[i - 1].time_s) days += kDay;
    rows[i].time_s += days;
  }
}

TraceRows read_dmon(std::istream& in, const std::string& name, const ReadOptions& options) {
  TraceRows rows;
  rows.refresh = Seconds{1.0 / 6};
  std::vector<std::string> titles;
  std::vector<const KnownColumn*> columns;
  RowCounter counter(options);
  std::size_t number = 0;
  std::size_t time = 0;
  std::size_t gpu = 0;
  for (std::string line; next_line(in, name, number, line);) {
    const std::string where = line_of(name, number);
    if (line.starts_with("#")) {  // titles, then units; both come again and again
      if (!titles.empty()) continue;
      titles = words(line.substr(1));
      columns = match(titles, kDmonColumns, rows);
      const auto place = [&](const char* title) {
        return static_cast<std::size_t>(std::find(titles.begin(), titles.end(), title) -
                                        titles.begin());
      };
      time = place("Time");
      gpu = place("gpu");
      if (gpu == titles.size())
        fail(where, "no column gpu; this is not what nvidia-smi dmon writes");
      continue;
    }
    const std::vector<std::string> cells = words(line);
    if (cells.empty()) continue;
    if (cells.size() != titles.size()) fail(where, "not as many fields as titles");
    TraceRow& row = rows.rows.emplace_back();
    row.line = number;
    row.instance = cells[gpu];
    row.time_s = time < cells.size() ? clock_seconds(cells[time], where) : counter.next(cells[gpu]);
    put_values(cells, columns, where, row);
  }
  if (time < titles.size()) unroll_midnight(rows.rows);
  return rows;
}

TraceRows read_dcgm(std::istream& in, const std::string& name, const ReadOptions& options) {
  TraceRows rows;
  std::vector<std::string> titles;
  std::vector<const KnownColumn*> columns;
  RowCounter counter(options);
  std::size_t number = 0;
  for (std::string line; next_line(in, name, number, line);) {
    const std::string where = line_of(name, number);
    if (line.starts_with("#")) {
      if (!titles.empty()) continue;
      titles = words(line.substr(1));
      columns = match(titles, kDcgmColumns, rows);
      continue;
    }
    const std::vector<std::string> cells = dcgm_words(line);
    if (cells.empty() || cells.front() == "ID") continue;
    if (cells.size() != titles.size()) fail(where, "not as many fields as titles");
    TraceRow& row = rows.rows.emplace_back();
    row.line = number;
    row.instance = cells.front();
    row.time_s = counter.next(row.instance);
    put_values(cells, columns, where, row);
  }
  return rows;
}

TraceRows read_sar(std::istream& in, const std::string& name, const ReadOptions& options) {
  constexpr double kKilobyte = 1024;  // sar's
  TraceRows rows;
  rows.names = {"net_rx", "net_tx"};
  rows.adds_up = true;
  std::size_t number = 0;
  std::size_t interface = 0, rx = 0, tx = 0, width = 0;
  const auto wanted = [&](const std::string& one) {
    if (options.interfaces.empty()) return one != "lo";
    return std::find(options.interfaces.begin(), options.interfaces.end(), one) !=
           options.interfaces.end();
  };
  for (std::string line; next_line(in, name, number, line);) {
    const std::vector<std::string> cells = words(line);
    if (cells.empty() || cells.front() == "Linux" || cells.front().starts_with("Average")) continue;
    const auto place = [&](const char* title) {
      return static_cast<std::size_t>(std::find(cells.begin(), cells.end(), title) - cells.begin());
    };
    if (place("IFACE") < cells.size()) {
      interface = place("IFACE"), rx = place("rxkB/s"), tx = place("txkB/s"), width = cells.size();
      continue;
    }
    const std::string where = line_of(name, number);
    if (width == 0 || std::max(rx, tx) >= width) fail(where, "no titles IFACE, rxkB/s, txkB/s yet");
    if (cells.size() != width) fail(where, "not as many fields as titles");
    if (!wanted(cells[interface])) continue;
    TraceRow& row = rows.rows.emplace_back();
    row.line = number;
    row.instance = cells[interface];
    row.time_s = clock_seconds(cells[0] + (interface > 1 ? cells[1] : ""), where);
    row.values = {kKilobyte * cell_number(cells[rx], where),
                  kKilobyte * cell_number(cells[tx], where)};
  }
  unroll_midnight(rows.rows);
  return rows;
}

}  // namespace foretrain::profile
