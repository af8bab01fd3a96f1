// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "foretrain/profile/detail/proc_file.h"
#include "foretrain/profile/subject.h"

namespace foretrain::profile {

// What a subject has used since it is watched; `memory_bytes` is what it uses now.
struct Counters {
  double cpu_s = 0;  // of threads that count
  double memory_bytes = 0;
  double tx_bytes = 0;
  double rx_bytes = 0;
  double read_bytes = 0;
  double written_bytes = 0;
};

// The processes of a subject with their threads and network namespaces, from /proc.
class Processes {
 public:
  // Throws Error(NotFound) for a process or cgroup that is not there.
  Processes(const Subject& subject, const SamplerOptions& options);

  void find();      // looks for new processes and names; slower, so done less often than `read`
  Counters read();  // sees new threads, forgets those that ended

  bool alive() const { return !processes_.empty(); }
  bool sees_network() const { return sees_network_; }  // at some time
  bool sees_disk() const { return sees_disk_; }

 private:
  struct Thread {
    ProcFile schedstat;
    double cpu_s = 0;  // at the last reading
    bool counts = true;
    int looks = 0;  // how often its name was looked at: threads are named after their start
  };
  struct Process {
    ProcFile statm;
    ProcFile io;
    std::map<int, Thread> threads;
    double read_bytes = 0;
    double written_bytes = 0;
  };
  // The interfaces of one network namespace.
  struct Network {
    ProcFile dev;
    double tx_bytes = 0;  // at the last reading
    double rx_bytes = 0;
    bool known = false;
  };

  void add(int process);
  void add_children();
  void add_cgroup(const std::string& folder, int depth);
  void add_network(int process);
  void name_threads(int process, Process& known);
  void read_threads(int process, Process& known);
  void read_io(Process& known);
  void read_network(Network& network);
  bool is_wanted(std::string_view interface) const;

  Subject subject_;
  std::vector<std::string> interfaces_;
  std::vector<std::string> uncounted_;
  std::map<int, Process> processes_;
  std::map<std::string, Network> networks_;  // by the namespace's identity
  Counters total_;
  std::vector<char> buffer_;
  bool first_ = true;  // nothing was read yet: what threads did before does not count
  bool sees_network_ = false;
  bool sees_disk_ = false;
};

}  // namespace foretrain::profile
