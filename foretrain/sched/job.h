// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/base/seconds.h"

namespace foretrain::sched {

// One line of a trace: a training job that asks for `devices` equal devices, all at once
// (gang scheduling).
struct Job {
  std::int64_t id = 0;              // its place in the trace, from 0; earlier wins ties
  std::string name;                 // what the trace calls it
  Seconds submit{0};                // from the first submission of the trace
  std::optional<Seconds> duration;  // measured on the devices that it asks for, undisturbed
  int devices = 1;
  std::string device;               // the type that it must have; empty: any
  std::string user;                 // who shares fairly with whom; empty: one user like the others
  double priority = 0;              // higher goes first
  std::optional<Seconds> deadline;  // after the submission
  std::string request;  // a Request in JSON without devices; empty: only the duration is known
};

// Devices of one node that a job holds.
struct Share {
  int node = 0;  // hw::Cluster::nodes
  int devices = 0;
  bool operator==(const Share&) const = default;
};

// Where a job runs. A job's devices are of one type; `pool` says which (Nodes).
struct Allocation {
  int pool = 0;
  std::vector<Share> shares;  // in the order of the ranks
};

// How long a whole job takes on one allocation.
struct Timing {
  Seconds actual{0};     // what happens
  Seconds predicted{0};  // what policies are told
  Seconds low{0};        // the interval of the prediction; where there is none, twice the same
  Seconds high{0};
  double network_bytes_per_s = 0;  // what each of its nodes sends, where it has several
  double network_share = 0;        // of its time, what waits for that network
};

}  // namespace foretrain::sched
