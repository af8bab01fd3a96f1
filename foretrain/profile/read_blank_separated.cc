// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <istream>

#include "foretrain/base/near.h"
#include "foretrain/profile/detail/recording_readers.h"

namespace foretrain::profile {
namespace {

constexpr double kMiB = 1024.0 * 1024;
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
  if (line.size() > kLongestLine) refuse(line_of(name, number), "a line of more than 64 KiB");
  return true;
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

double counted_time(const Instance& instance, const ReadOptions& options) {
  return options.interval.value_or(kUsualInterval).count() * static_cast<double>(instance.rows);
}

}  // namespace

RecordingRows read_dmon(std::istream& in, const std::string& name, const ReadOptions& options) {
  RecordingRows rows;
  rows.refresh = Seconds{1.0 / 6};
  std::vector<std::string> titles;
  std::vector<const KnownColumn*> columns;
  DayClock clock;
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
        refuse(where, "no column gpu; this is not what nvidia-smi dmon writes");
      continue;
    }
    const std::vector<std::string> cells = words(line);
    if (cells.empty()) continue;
    if (cells.size() != titles.size()) refuse(where, "not as many fields as titles");
    const std::size_t instance = find_instance(cells[gpu], where, rows);
    const double time_s = time < cells.size() ? clock.next(clock_seconds(cells[time], where))
                                              : counted_time(rows.instances[instance], options);
    add_row(instance, time_s, known_values(cells, columns, where), where, rows);
  }
  return rows;
}

RecordingRows read_dcgm(std::istream& in, const std::string& name, const ReadOptions& options) {
  RecordingRows rows;
  std::vector<std::string> titles;
  std::vector<const KnownColumn*> columns;
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
    if (cells.size() != titles.size()) refuse(where, "not as many fields as titles");
    const std::size_t instance = find_instance(cells.front(), where, rows);
    const double time_s = counted_time(rows.instances[instance], options);
    add_row(instance, time_s, known_values(cells, columns, where), where, rows);
  }
  return rows;
}

RecordingRows read_sar(std::istream& in, const std::string& name, const ReadOptions& options) {
  constexpr double kKilobyte = 1024;  // sar's
  RecordingRows rows;
  rows.names = {"net_rx", "net_tx"};
  rows.adds_up = true;
  DayClock clock;
  const std::size_t all = find_instance("", name, rows);
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
    if (width == 0 || std::max(rx, tx) >= width)
      refuse(where, "no titles IFACE, rxkB/s, txkB/s yet");
    if (cells.size() != width) refuse(where, "not as many fields as titles");
    if (!wanted(cells[interface])) continue;
    const double time_s =
        clock.next(clock_seconds(cells[0] + (interface > 1 ? cells[1] : ""), where));
    const std::array<double, 2> values{cell_amount(cells[rx], "net_rx", kKilobyte, where),
                                       cell_amount(cells[tx], "net_tx", kKilobyte, where)};
    add_row(all, time_s, values, where, rows);
  }
  if (rows.time_s.empty() && !options.interfaces.empty()) {
    refuse(name, "no row of interface '" + printable(options.interfaces.front()) + "'");
  }
  return rows;
}

}  // namespace foretrain::profile
