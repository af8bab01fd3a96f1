// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/machine.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>
#include <utility>

#include "foretrain/profile/detail/nvml.h"
#include "foretrain/profile/detail/proc_file.h"

namespace foretrain::profile {
namespace {

namespace fs = std::filesystem;

constexpr double kKibibyte = 1024;
constexpr double kMegabitPerS = 1e6 / 8;  // in bytes per second

// "model name\t: Xeon" to its two parts without blanks around.
std::pair<std::string, std::string> key_and_value(const std::string& line) {
  const auto trimmed = [](const std::string& text) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string::npos) return std::string();
    return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
  };
  const std::size_t colon = line.find(':');
  if (colon == std::string::npos) return {trimmed(line), ""};
  return {trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1))};
}

void read_cpus(const std::string& text, Machine& machine) {
  std::istringstream lines(text);
  std::set<std::string> sockets;
  std::set<std::pair<std::string, std::string>> cores;
  std::string socket;
  for (std::string line; std::getline(lines, line);) {
    const auto [key, value] = key_and_value(line);
    if (key == "processor") ++machine.threads;
    if (key == "model name" && machine.cpu.empty()) machine.cpu = value;
    if (key == "physical id") sockets.insert(socket = value);
    if (key == "core id") cores.insert({socket, value});
  }
  machine.cores = cores.empty() ? machine.threads : static_cast<int>(cores.size());
  machine.sockets = std::max(1, static_cast<int>(sockets.size()));
}

double memory_bytes(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto [key, value] = key_and_value(line);
    if (key == "MemTotal") return kKibibyte * std::strtod(value.c_str(), nullptr);
  }
  return 0;
}

std::vector<NicFacts> read_nics(const fs::path& folder) {
  std::vector<NicFacts> nics;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    NicFacts nic;
    nic.name = entry.path().filename().string();
    if (nic.name == "lo" || !fs::is_directory(entry.path(), error)) continue;
    nic.up = read_small((entry.path() / "operstate").string()).starts_with("up");
    nic.physical = fs::exists(entry.path() / "device", error);
    // Mbit/s; -1 or an error of the read where the driver does not know.
    const double speed =
        std::strtod(read_small((entry.path() / "speed").string()).c_str(), nullptr);
    if (speed > 0) nic.bytes_per_s = kMegabitPerS * speed;
    nics.push_back(std::move(nic));
  }
  std::sort(nics.begin(), nics.end(),
            [](const NicFacts& a, const NicFacts& b) { return a.name < b.name; });
  return nics;
}

// The whole of a file of /proc, which may be longer than `read_small` takes.
std::string read_whole(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Machine local_machine(const std::string& root, const std::string& nvml) {
  Machine machine;
  const fs::path top = root;
  read_cpus(read_whole(top / "proc/cpuinfo"), machine);
  machine.memory_bytes = memory_bytes(read_whole(top / "proc/meminfo"));
  machine.nics = read_nics(top / "sys/class/net");
  if (const std::unique_ptr<Nvml> gpus = Nvml::open(nvml, -1)) machine.gpus = gpus->facts();
  return machine;
}

}  // namespace foretrain::profile
