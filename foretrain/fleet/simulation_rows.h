// SPDX-License-Identifier: Apache-2.0
// What a simulation says about single jobs and events, as data and as lines of CSV.
#pragma once

#include <string>
#include <vector>

#include "foretrain/sched/simulate.h"

namespace foretrain::fleet {

// When one job was submitted, began and ended.
struct JobTimes {
  std::string job;
  Seconds submit{0};
  Seconds start{0};  // for the first time
  Seconds end{0};
  int devices = 0;
  Seconds queue{0};  // without devices
  Seconds jct{0};    // from submission to end
  int preemptions = 0;
};

JobTimes job_times(const sched::Active& ended, Seconds now);

// A line per job, in the order in which they end; a line per event. With their ends.
std::string jobs_header();
std::string jobs_line(const JobTimes& times);
std::string events_header();
std::string events_line(sched::Happening what, Seconds now, const sched::Active* active, int node);

// A list per column, by the names of the header: {"job": [...], "submit_s": [...], ...}.
std::string to_json(const std::vector<JobTimes>& times);

}  // namespace foretrain::fleet
