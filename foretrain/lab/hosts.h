// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "foretrain/lab/cgroups.h"

namespace foretrain::lab {

// Where a worker or server runs.
struct Host {
  std::string name;
  std::string address;                // that the others reach it by
  std::string interface;              // of that address
  std::vector<std::string> prefix{};  // words before a command that runs there
  std::vector<std::string> cgroups{};
  std::vector<int> cpus{};   // where they are not chosen by a group
  bool local = true;         // its processes can be sampled here
  bool own_network = false;  // its traffic can be told from others'
};

// A machine that is reached by a command, as in {"command": ["ssh", "node1"], ...}.
struct RemoteHost {
  std::vector<std::string> command;
  std::string address;
  std::string interface;
};

// What a setting gives to one host.
struct Allotment {
  std::vector<int> cpus{};  // empty: all
  double cores = 0;         // share of them; 0: no limit
  double bytes_per_s = 0;   // of its link in each direction; 0: not shaped
};

// What a machine can give to its hosts besides cores of their own.
struct Means {
  bool shaped_links = false;  // in namespaces
  bool core_shares = false;   // by control groups
};

// The hosts of a lab, made by the constructor and removed by the destructor. Where this process
// lives in namespaces of its own (isolate.h), each is a network namespace with a link to a common
// bridge; elsewhere they are plain processes of this machine, whose links cannot be shaped.
class Hosts {
 public:
  Hosts(int count, bool isolated);
  explicit Hosts(const std::vector<RemoteHost>& remote);
  ~Hosts();
  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;

  const Host& operator[](int index) const { return hosts_[static_cast<std::size_t>(index)]; }
  // Of a group with the lab's weight and no limits: for what measures the machine itself.
  const std::vector<std::string>& free_cgroups() const { return free_cgroups_; }
  int count() const { return static_cast<int>(hosts_.size()); }
  Means means() const { return {isolated_, cgroups_ && cgroups_->limits()}; }

  // Throws Error(Unsupported) for what cannot be given here: shaped links without namespaces,
  // shares of a core without control groups, anything on remote hosts.
  void allot(int host, const Allotment& allotment);

 private:
  void make_bridge() const;
  void make_link(int index);

  bool isolated_ = false;
  std::unique_ptr<Cgroups> cgroups_;
  std::vector<std::string> free_cgroups_;
  std::vector<Host> hosts_;
};

}  // namespace foretrain::lab
