// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/detail/machine.h"

#include <dirent.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "foretrain/base/digest.h"
#include "foretrain/base/error.h"

namespace foretrain::lab {
namespace {

using Clock = std::chrono::steady_clock;

Seconds now() { return Clock::now().time_since_epoch(); }

// The value behind `key` in a file of lines "key : value" or "key=value".
std::string value_in(const char* file, std::string_view key, char separator) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t place = line.find(separator);
    if (place == std::string::npos) continue;
    std::string value = line.substr(place + 1);
    std::erase(value, '"');
    const std::size_t begin = value.find_first_not_of(" \t");
    return begin == std::string::npos ? "" : value.substr(begin);
  }
  return "";
}

// The model's name, with the numbers that tell its generations apart: clouds call them all the
// same.
std::string cpu_name() {
  std::string text = value_in("/proc/cpuinfo", "model name", ':');
  const std::string family = value_in("/proc/cpuinfo", "cpu family", ':');
  if (family.empty()) return text;
  const std::string model = value_in("/proc/cpuinfo", "model\t", ':');
  const std::string stepping = value_in("/proc/cpuinfo", "stepping", ':');
  return text + " (family " + family + ", model " + model + ", stepping " + stepping + ")";
}

// What names this machine.
std::string own_name() {
  std::string text;
  std::getline(std::ifstream("/etc/machine-id"), text);
  char name[256] = "";
  if (text.empty() && gethostname(name, sizeof(name) - 1) == 0) text = name;
  return text;
}

// One core's part: GEMMs of small matrices, which stay in its cache, and sums over a block that
// does not.
double work_once(std::vector<float>& block) {
  constexpr int kSize = 64;
  static thread_local std::array<float, kSize * kSize> a{};
  static thread_local std::array<float, kSize * kSize> b{};
  static thread_local std::array<float, kSize * kSize> c{};
  a.fill(1e-3F);
  b.fill(1e-3F);
  for (int round = 0; round < 4500; ++round) {
    for (int i = 0; i < kSize; ++i) {
      for (int k = 0; k < kSize; ++k) {
        const float factor = a[static_cast<std::size_t>(i * kSize + k)];
        for (int j = 0; j < kSize; ++j) {
          c[static_cast<std::size_t>(i * kSize + j)] +=
              factor * b[static_cast<std::size_t>(k * kSize + j)];
        }
      }
    }
  }
  for (int round = 0; round < 30; ++round) {
    for (float& value : block) value += 1e-3F;
  }
  return static_cast<double>(c[1]) + static_cast<double>(block[block.size() / 2]);
}

// Busy time of all cores. Version 1 of control groups counts it exactly; /proc/stat samples at
// ticks, which beat with the periods of a share of a core. There: user, nice, system and stolen;
// interrupts serve our own traffic.
double busy_seconds() {
  double exact_ns = 0;
  if (std::ifstream("/sys/fs/cgroup/cpuacct/cpuacct.usage") >> exact_ns) return exact_ns * 1e-9;
  std::ifstream stream("/proc/stat");
  std::string word;
  double user = 0;
  double nice = 0;
  double system = 0;
  double idle = 0;
  double waiting = 0;
  double interrupt = 0;
  double soft = 0;
  double stolen = 0;
  stream >> word >> user >> nice >> system >> idle >> waiting >> interrupt >> soft >> stolen;
  return (user + nice + system + stolen) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

struct Usage {
  int parent = 0;
  double cpu_s = 0;  // with that of its children that have ended
};

std::map<int, Usage> all_processes() {
  std::map<int, Usage> result;
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return result;
  while (const dirent* entry = readdir(folder)) {
    const int pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    std::ifstream stream("/proc/" + std::string(entry->d_name) + "/stat");
    std::string line;
    std::getline(stream, line);
    const std::size_t close = line.rfind(')');
    if (close == std::string::npos) continue;
    std::istringstream rest(line.substr(close + 1));
    std::string word;
    Usage usage;
    double ticks = 0;
    for (int field = 3; field <= 17 && rest >> word; ++field) {
      if (field == 4) usage.parent = std::atoi(word.c_str());
      if (field >= 14) ticks += std::atof(word.c_str());
    }
    usage.cpu_s = ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
    result[pid] = usage;
  }
  closedir(folder);
  return result;
}

}  // namespace

// Up to 16 hexadecimal digits.
std::string machine_id(const std::string& name, const std::string& cpu) {
  std::ostringstream result;
  result << "lab-" << std::hex << digest("foretrain-lab " + name + cpu);
  return result.str();
}

int core_count() { return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN))); }

store::Machine describe_machine() {
  store::Machine machine;
  machine.cpu = cpu_name();
  machine.id = machine_id(own_name(), machine.cpu);
  machine.cores = core_count();
  machine.memory_bytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  utsname system{};
  if (uname(&system) == 0) machine.kernel = system.release;
  machine.system = value_in("/etc/os-release", "PRETTY_NAME", '=');
  return machine;
}

namespace {

double time_work() {
  const auto cores = static_cast<std::size_t>(core_count());
  std::vector<double> times(cores);
  std::vector<double> results(cores);
  std::vector<std::thread> threads;
  for (std::size_t core = 0; core < cores; ++core) {
    threads.emplace_back([core, &times, &results] {
      cpu_set_t set{};
      CPU_SET(core, &set);
      sched_setaffinity(0, sizeof(set), &set);
      std::vector<float> block(std::size_t{4} << 20);
      const Seconds start = now();
      results[core] = work_once(block);
      times[core] = (now() - start).count();
    });
  }
  for (std::thread& thread : threads) thread.join();
  double sum = 0;
  for (std::size_t core = 0; core < cores; ++core) sum += times[core] + 0 * results[core];
  return sum / static_cast<double>(cores);
}

}  // namespace

Seconds calibrate(const std::vector<std::string>& cgroups) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw Error(ErrorKind::Io, "cannot make a pipe");
  const int parent = getpid();
  const int child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    for (const std::string& file : cgroups) std::ofstream(file) << "0";
    const double time_s = time_work();
    _exit(write(ends[1], &time_s, sizeof(time_s)) == sizeof(time_s) ? 0 : 1);
  }
  close(ends[1]);
  double time_s = 0;
  const bool read_all = child > 0 && read(ends[0], &time_s, sizeof(time_s)) == sizeof(time_s);
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  if (!read_all) throw Error(ErrorKind::Io, "the calibration did not end");
  return Seconds(time_s);
}

double memory_bytes_per_s() {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  std::vector<char> from(kBytes, 1);
  std::vector<char> to(kBytes, 2);
  double best = 0;
  for (int attempt = 0; attempt < 40; ++attempt) {
    const Seconds start = now();
    std::memcpy(to.data(), from.data(), kBytes);
    const double time_s = (now() - start).count();
    from[static_cast<std::size_t>(attempt)] = to[kBytes - 1];
    best = std::max(best, 2.0 * static_cast<double>(kBytes) / time_s);
  }
  return best;
}

Seconds own_cpu_time() {
  const std::map<int, Usage> all = all_processes();
  std::set<int> ours{getpid()};
  for (bool grew = true; grew;) {
    grew = false;
    for (const auto& [pid, usage] : all) {
      if (ours.contains(usage.parent) && ours.insert(pid).second) grew = true;
    }
  }
  double sum = 0;
  for (const int pid : ours) {
    if (const auto found = all.find(pid); found != all.end()) sum += found->second.cpu_s;
  }
  return Seconds(sum);
}

ForeignLoad::ForeignLoad()
    : busy_s_(busy_seconds()), own_s_(own_cpu_time().count()), start_(now()) {}

double ForeignLoad::cores() const {
  const double busy = busy_seconds() - busy_s_;
  const double own = own_cpu_time().count() - own_s_;
  const double elapsed = std::max((now() - start_).count(), 0.01);
  return std::max(0.0, (busy - own) / elapsed);
}

}  // namespace foretrain::lab
