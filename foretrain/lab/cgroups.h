// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace foretrain::lab {

// Control groups of the lab: one folder per host, all below one parent that outweighs everything
// else on the machine. Shares of a core are CFS
// quotas. Version 1 and version 2 of the kernel's interface. Folders are named
// foretrain-lab-<process>; those of a lab that was killed are removed by `sweep_cgroups`.
class Cgroups {
 public:
  // Nothing is created where no controller may be used: then `pins` and `limits` say so.
  Cgroups();
  ~Cgroups();
  Cgroups(const Cgroups&) = delete;
  Cgroups& operator=(const Cgroups&) = delete;

  bool pins() const { return !cpuset_.empty(); }  // cores can be chosen
  bool limits() const { return !cpu_.empty(); }   // shares of a core can be given

  // A host's group; returns the files to which a process writes its number to join.
  std::vector<std::string> add(const std::string& host);

  // Which CPUs a host may use, and how much of them; 0 for no limit. The period is 10 ms: the usual
  // 100 ms shows in every recording as bursts that the job does not have, less than 5 ms is
  // inaccurate. Throws Error: Unsupported where there is no controller for it.
  void set(const std::string& host, const std::vector<int>& cpus, double cores);

 private:
  bool unified_ = false;
  std::string cpu_;     // the parent folder, or "" where it cannot be used
  std::string cpuset_;  // likewise
  std::vector<std::string> made_;
};

// Whether a Cgroups made now would limit, as far as can be told without making one.
bool may_limit();

// Removes what labs that are gone have left. Only for the holder of the lab's lock.
void sweep_cgroups();

// Folders of labs that exist now.
std::vector<std::string> lab_cgroups();

}  // namespace foretrain::lab
