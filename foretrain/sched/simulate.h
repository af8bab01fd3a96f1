// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "foretrain/sched/quantiles.h"
#include "foretrain/sched/state.h"

namespace foretrain::sched {

// Gives one job after the other, in the order of submission; false at the end.
using JobSource = std::function<bool(Job&)>;

struct Options {
  Place place = place_anywhere;
  Costs costs;
  Seconds node_mtbf{0};  // mean time between failures of one node; 0: none fails
  Seconds repair{3600};  // of a node
  std::uint64_t seed = 0;
  bool drop_unfit = false;  // leave out jobs that no pool can hold; otherwise they are an error
};

struct Summary {
  std::int64_t jobs = 0;
  std::int64_t completed = 0;
  std::int64_t dropped = 0;
  Quantiles jct;        // seconds from submission to end
  Quantiles queue;      // of those, without a device
  Quantiles slowdown;   // jct / the job's time where it ran last, undisturbed
  double fairness = 0;  // Jain's index of the slowdowns: 1 where all are equal, 1/n at worst
  Seconds makespan{0};  // from the first submission to the last end
  double device_utilisation = 0;  // share of all device time in the makespan that jobs held
  std::int64_t preemptions = 0;
  std::int64_t failures = 0;       // of jobs
  std::int64_t late = 0;           // jobs that missed their deadline
  double work_device_seconds = 0;  // of the jobs, undisturbed
  double held_device_seconds = 0;  // with restarts and lost work
};

struct Watch {
  Observer observer;
  std::function<void(const Active& ended, Seconds now)> on_ended;
};

// Runs the jobs through the cluster. Throws Error(BadInput) for a job that the cluster cannot
// hold, for jobs that are not in the order of submission, and where nothing comes of it: a million
// events without a job that comes or ends (rounds too short, nodes that fail too often). Memory
// grows with the jobs that wait and run, not with those that have ended. The same arguments give
// the same result.
Summary simulate(const JobSource& source, const hw::Cluster& cluster, const Policy& policy,
                 const Durations& durations, const Options& options, const Watch& watch = {});

// The duration that the trace gives, wherever the job runs.
Timing traced_duration(const Job& job, const Allocation& where);

}  // namespace foretrain::sched
