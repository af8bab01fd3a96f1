// SPDX-License-Identifier: Apache-2.0
// For tests: small clusters, small traces, and what became of each job.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "foretrain/sched/simulate.h"

namespace foretrain::sched {

// `nodes` nodes with `devices` devices of each of `types` types, joined by 10 GB/s.
inline hw::Cluster test_cluster(int nodes, int devices, int types = 1) {
  hw::Cluster cluster;
  cluster.links.push_back({.name = "link", .bytes_per_s = 10e9});
  for (int type = 0; type < types; ++type) {
    cluster.devices.push_back({.name = "type" + std::to_string(type)});
    for (int node = 0; node < nodes; ++node) cluster.nodes.push_back({type, devices, 0, 0, 0});
  }
  return cluster;
}

inline Job test_job(const std::string& name, double submit, double duration, int devices = 1) {
  Job job;
  job.name = name;
  job.submit = Seconds{submit};
  job.duration = Seconds{duration};
  job.devices = devices;
  return job;
}

struct Fate {
  double start = 0;
  double end = 0;
  int preemptions = 0;
  int failures = 0;
  double ran = 0;
};

struct TestRun {
  std::map<std::string, Fate> jobs;
  Summary summary;
  std::string log;  // of all events
};

struct TestSetup {
  hw::Cluster cluster = test_cluster(1, 1);
  std::string policy = "fifo";
  Options options;
  PolicyOptions policy_options;
  Durations durations = traced_duration;
};

inline JobSource source_of(std::vector<Job> jobs) {
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].id = static_cast<std::int64_t>(i);
  return [jobs, next = std::size_t{0}](Job& job) mutable {
    if (next == jobs.size()) return false;
    job = jobs[next++];
    return true;
  };
}

inline TestRun run_policy(const TestSetup& setup, const Policy& policy,
                          const std::vector<Job>& jobs) {
  TestRun run;
  Watch watch;
  watch.on_ended = [&](const Active& active, Seconds now) {
    run.jobs[active.job.name] = {active.first_start->count(), now.count(), active.preemptions,
                                 active.failures, active.ran.count()};
  };
  watch.observer.on_event = [&](Happening what, Seconds now, const Active* active, int node) {
    run.log += std::to_string(now.count()) + " " + to_string(what) + " " +
               (active == nullptr ? std::to_string(node) : active->job.name) + "\n";
  };
  run.summary =
      simulate(source_of(jobs), setup.cluster, policy, setup.durations, setup.options, watch);
  return run;
}

inline TestRun run_jobs(const TestSetup& setup, const std::vector<Job>& jobs) {
  return run_policy(setup, find_policy(setup.policy).make(setup.policy_options), jobs);
}

}  // namespace foretrain::sched
