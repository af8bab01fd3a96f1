// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/cli/engine_durations.h"
#include "foretrain/cli/simulate_output.h"
#include "foretrain/sched/generate.h"
#include "foretrain/sched/trace.h"

namespace foretrain::cli {

// What `foretrain simulate` was asked.
struct SimulateOptions {
  std::string trace;
  std::string cluster;
  std::string policy = "fifo";
  std::string placement = "anywhere";
  std::string durations = "trace";
  std::string predictions = "exact";
  std::optional<double> prediction_error;
  bool draw = false;
  std::vector<double> limits;
  double round_s = 360;
  double restart_s = 0;
  double checkpoint_s = 0;
  double mtbf_s = 0;
  double repair_s = 3600;
  std::uint64_t seed = 0;
  bool drop_unfit = false;
};

// The jobs, the cluster and the engine; any number of simulations, by several threads at once.
class SimulateRun {
 public:
  SimulateRun(const SimulateOptions& options, const Library& library);

  SimulationReport run(const std::string& policy, std::uint64_t seed,
                       const sched::Watch& watch = {});
  int devices() const { return hw::worker_count(cluster_.cluster); }
  std::int64_t jobs_in_all() const;

 private:
  sched::JobSource jobs(std::uint64_t seed) const;
  sched::Durations durations(std::uint64_t seed);
  sched::PolicyOptions policy_options() const;

  SimulateOptions options_;
  SimulatedCluster cluster_;
  std::optional<sched::Workload> workload_;
  sched::Trace trace_;
  EngineDurations engine_;
};

}  // namespace foretrain::cli
