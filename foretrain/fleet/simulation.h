// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/fleet/engine_durations.h"
#include "foretrain/fleet/simulation_report.h"
#include "foretrain/fleet/simulation_request.h"
#include "foretrain/sched/generate.h"
#include "foretrain/sched/job_trace.h"

namespace foretrain::fleet {

// One simulation of a sweep.
struct SweptRun {
  std::string policy;
  std::uint64_t seed = 0;
};

// The jobs, the cluster and the engine; any number of simulations, by several threads at once.
class Simulation {
 public:
  // Keeps a reference to the library. Throws Error where the request, its trace or its cluster is
  // wrong.
  Simulation(const SimulationRequest& request, const Library& library);
  Simulation(const Simulation&) = delete;  // its parts refer to each other
  Simulation& operator=(const Simulation&) = delete;

  SimulationReport run(const std::string& policy, std::uint64_t seed,
                       const sched::Watch& watch = {});

  // Every policy of the sweep (where there is none, the policy) with every seed, in this order.
  std::vector<SimulationReport> run_all();
  static std::vector<SweptRun> runs_of(const SimulationRequest& request);

  int devices() const { return hw::worker_count(cluster_.cluster); }
  std::int64_t jobs_in_all() const;

 private:
  sched::JobSource jobs(std::uint64_t seed) const;
  sched::Durations durations(std::uint64_t seed);
  sched::PolicyOptions policy_options() const;

  SimulationRequest request_;
  SimulatedCluster cluster_;
  std::optional<sched::Workload> workload_;
  sched::JobTrace trace_;
  EngineDurations engine_;
};

// All that a request asks for: the JSON of its report, with "per_job", "chart" and "svg" where they
// are wanted, or of its sweep. Throws Error.
std::string simulate_json(const SimulationRequest& request, const Library& library);

}  // namespace foretrain::fleet
