// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/detail/processes.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::profile {
namespace {

constexpr int kLooks = 20;  // at a thread's name, one per `find`: a second
constexpr int kDeepestCgroup = 16;
constexpr std::size_t kMostProcesses = 4096;

std::string folder_of(int process) { return "/proc/" + std::to_string(process); }

std::string task_folder(int process, int thread) {
  return folder_of(process) + "/task/" + std::to_string(thread);
}

// "net:[4026531840]"; "" where it may not be known.
std::string network_of(int process) {
  std::array<char, 64> text{};
  const ssize_t size = readlink((folder_of(process) + "/ns/net").c_str(), text.data(), text.size());
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : "";
}

// The number after `label` in a file of "label: number" lines.
double number_after(std::string_view text, std::string_view label) {
  const std::size_t at = text.find(label);
  if (at == std::string_view::npos) return 0;
  text.remove_prefix(at + label.size());
  return take_number(text);
}

std::vector<int> numbers_in(std::string_view text) {
  std::vector<int> numbers;
  for (std::size_t at = 0; (at = text.find_first_of("0123456789", at)) != std::string_view::npos;) {
    std::string_view rest = text.substr(at);
    numbers.push_back(static_cast<int>(take_number(rest)));
    at = text.size() - rest.size();
  }
  return numbers;
}

}  // namespace

Processes::Processes(const Subject& subject, const SamplerOptions& options)
    : subject_(subject), interfaces_(options.interfaces), uncounted_(options.uncounted_threads) {
  for (const int process : subject_.processes) {
    if (!std::filesystem::exists(folder_of(process))) {
      throw Error(ErrorKind::NotFound, "there is no process " + std::to_string(process));
    }
  }
  const std::string& cgroup = subject_.cgroup;
  if (!cgroup.empty() && !std::filesystem::exists(cgroup + "/cgroup.procs")) {
    throw Error(ErrorKind::NotFound, "'" + printable(cgroup, 200) +
                                         "' is no cgroup; name its folder below /sys/fs/cgroup");
  }
  for (const int process : subject_.processes) add(process);
  find();
}

void Processes::add(int process) {
  if (processes_.contains(process) || processes_.size() >= kMostProcesses) return;
  Process known{.statm = ProcFile(folder_of(process) + "/statm"),
                .io = ProcFile(folder_of(process) + "/io"),
                .threads = {}};
  if (!known.statm.is_open()) return;
  processes_.emplace(process, std::move(known));
  add_network(process);
}

void Processes::add_network(int process) {
  const std::string identity = network_of(process);
  if (identity.empty() || networks_.contains(identity)) return;
  Network network{.dev = ProcFile(folder_of(process) + "/net/dev")};
  if (network.dev.is_open()) networks_.emplace(identity, std::move(network));
}

void Processes::add_children() {
  std::vector<int> parents;
  for (const auto& [process, known] : processes_) parents.push_back(process);
  while (!parents.empty()) {
    const int parent = parents.back();
    parents.pop_back();
    for (const int thread : numbered_entries(folder_of(parent) + "/task")) {
      for (const int child : numbers_in(read_small(task_folder(parent, thread) + "/children"))) {
        if (processes_.contains(child)) continue;
        add(child);
        parents.push_back(child);
      }
    }
  }
}

void Processes::add_cgroup(const std::string& folder, int depth) {
  for (const int process : numbers_in(read_small(folder + "/cgroup.procs"))) add(process);
  if (depth == kDeepestCgroup) return;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator(folder, gone)) {
    if (entry.is_directory(gone)) add_cgroup(entry.path().string(), depth + 1);
  }
}

void Processes::find() {
  if (!subject_.cgroup.empty()) add_cgroup(subject_.cgroup, 0);
  add_children();
  for (auto& [process, known] : processes_) {
    name_threads(process, known);
    add_network(process);  // a process may have moved to another namespace
  }
}

// Threads get their names shortly after they start, so they are looked at more than once.
void Processes::name_threads(int process, Process& known) {
  for (auto& [id, thread] : known.threads) {
    if (thread.looks++ >= kLooks) continue;
    const std::string name = read_small(task_folder(process, id) + "/comm");
    thread.counts =
        std::none_of(uncounted_.begin(), uncounted_.end(),
                     [&](const std::string& prefix) { return name.starts_with(prefix); });
  }
}

void Processes::read_threads(int process, Process& known) {
  for (const int id : numbered_entries(folder_of(process) + "/task")) {
    if (known.threads.contains(id)) continue;
    known.threads.emplace(id,
                          Thread{.schedstat = ProcFile(task_folder(process, id) + "/schedstat")});
    name_threads(process, known);
  }
  for (auto thread = known.threads.begin(); thread != known.threads.end();) {
    std::string_view text = thread->second.schedstat.read(buffer_);
    if (text.empty()) {
      thread = known.threads.erase(thread);
      continue;
    }
    const double cpu_s = take_number(text) * 1e-9;
    if (thread->second.counts) total_.cpu_s += cpu_s - thread->second.cpu_s;
    thread->second.cpu_s = cpu_s;
    ++thread;
  }
}

void Processes::read_io(Process& known) {
  const std::string_view text = known.io.read(buffer_);
  if (text.empty()) return;
  sees_disk_ = true;
  const double read = number_after(text, "\nread_bytes:");
  const double written = number_after(text, "\nwrite_bytes:");
  total_.read_bytes += read - known.read_bytes;
  total_.written_bytes += written - known.written_bytes;
  known.read_bytes = read;
  known.written_bytes = written;
}

bool Processes::is_wanted(std::string_view interface) const {
  if (interfaces_.empty()) return interface != "lo";
  return std::find(interfaces_.begin(), interfaces_.end(), interface) != interfaces_.end();
}

void Processes::read_network(Network& network) {
  constexpr int kBetween = 7;  // fields from the received bytes to the transmitted ones
  std::string_view text = network.dev.read(buffer_);
  if (text.empty()) return;
  double tx = 0;
  double rx = 0;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t colon = line.find(':');
    const std::size_t begin = line.find_first_not_of(' ');
    if (colon == std::string_view::npos) continue;
    if (!is_wanted(line.substr(begin, colon - begin))) continue;
    line.remove_prefix(colon + 1);
    rx += take_number(line);
    for (int i = 0; i < kBetween; ++i) take_number(line);
    tx += take_number(line);
    sees_network_ = true;
  }
  // A counter that is less than before was set back: an interface went.
  if (network.known) {
    total_.tx_bytes += std::max(0.0, tx - network.tx_bytes);
    total_.rx_bytes += std::max(0.0, rx - network.rx_bytes);
  }
  network = {std::move(network.dev), tx, rx, true};
}

Counters Processes::read() {
  total_.memory_bytes = 0;
  const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  for (auto process = processes_.begin(); process != processes_.end();) {
    Process& known = process->second;
    read_threads(process->first, known);
    std::string_view text = known.statm.read(buffer_);
    if (text.empty() || known.threads.empty()) {
      process = processes_.erase(process);
      continue;
    }
    take_number(text);
    total_.memory_bytes += page * take_number(text);
    read_io(known);
    ++process;
  }
  for (auto& [identity, network] : networks_) read_network(network);
  if (first_) {
    total_ = {.memory_bytes = total_.memory_bytes};
    first_ = false;
  }
  return total_;
}

}  // namespace foretrain::profile
