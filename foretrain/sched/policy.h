// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/base/seconds.h"

namespace foretrain::sched {

class State;
struct Active;

// What decides which jobs run. `decide` is called once after all that happens at one moment
// (ends, failures, arrivals); it looks at the state and starts and stops jobs through it.
// A policy is one file with one function that returns this; a line in policies.cc gives it a
// name. What it remembers between decisions lives in what its functions capture, so that two
// simulations share nothing.
struct Policy {
  std::function<void(State&)> decide{};

  // Where a job stands among those that wait; less goes first, then the earlier job. Asked when
  // it begins to wait. Empty: first come, first served.
  std::function<double(const Active&)> rank{};

  // Policies that stop jobs: how fast the rank of a running job falls, the same for all jobs of
  // one size. Empty: not at all.
  std::function<double(const Active&)> slope{};

  // When the policy wants to look at a job that starts now, or was just woken; asked for
  // running jobs. `woken` is called then, before `decide`.
  std::function<std::optional<Seconds>(const Active&)> wake_after{};
  std::function<void(State&, int slot)> woken{};

  // Called when a job begins to wait: at its arrival, or after it was stopped or failed.
  std::function<void(State&, int slot)> queued{};

  bool stops_jobs = false;  // by rank: keeps State::running in order
};

// What a policy may be told; most need nothing.
struct PolicyOptions {
  std::vector<double> limits;   // Tiresias: attained (device) seconds at which a job falls
  std::vector<double> history;  // Gittins: device seconds of jobs like these, in any order
  Seconds round{360};           // Gavel: how long a round lasts
};

struct PolicyEntry {
  std::string_view name;
  std::string_view meaning;
  Policy (*make)(const PolicyOptions&);
};

// All policies by name; aliases have entries of their own.
const std::vector<PolicyEntry>& policies();

// Throws Error(NotFound), listing near matches.
const PolicyEntry& find_policy(std::string_view name);

}  // namespace foretrain::sched
