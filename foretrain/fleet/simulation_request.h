// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain::fleet {

inline constexpr double kLongestTime = 1e12;  // seconds; what is longer is a mistake
inline constexpr int kMostSeeds = 10'000;
inline constexpr int kMostThreads = 256;

// What is asked of the simulator. The names are those of the JSON; docs/simulator.md says what
// they mean.
struct SimulationRequest {
  std::string trace;                      // a file, or generate:jobs=N,...
  std::optional<std::string> trace_text;  // the jobs themselves; `trace` only names them then
  std::string cluster;                    // as read_simulated_cluster takes it
  std::string policy = "fifo";
  std::string placement = "anywhere";
  std::vector<double> limits_s;  // of Tiresias's queues; empty: its own
  double round_s = 360;
  bool drop_unfit = false;
  std::string durations = "trace";    // or "placed", "engine"
  std::string predictions = "exact";  // or "engine"
  std::optional<double> prediction_error;
  bool draw_durations = false;
  double restart_cost_s = 0;
  double checkpoint_interval_s = 0;
  double mtbf_s = 0;
  double repair_s = 3600;
  std::uint64_t seed = 0;
  std::vector<std::string> sweep;  // policies to compare instead of `policy`
  int seeds = 1;                   // as many simulations of each, with seed, seed + 1, ...
  int threads = 0;                 // of those; 0: one per core
  bool per_job = false;            // add the times of each job to the JSON
  bool chart = false;              // add what a chart shows
  bool svg = false;                // add the chart as a picture
};

// Whether several simulations are asked for.
inline bool is_sweep(const SimulationRequest& request) {
  return !request.sweep.empty() || request.seeds > 1;
}

// Reads a request from its JSON text; `cluster` may be an object. `where` begins every message.
// Throws Error(BadInput) for malformed JSON, unknown fields (near matches listed) and wrong types.
SimulationRequest parse_simulation_request(std::string_view json, const std::string& where);

// Throws Error(BadInput) for numbers out of range and details asked of several simulations,
// Error(NotFound) for policies and placements that do not exist, listing near matches.
void check(const SimulationRequest& request);

}  // namespace foretrain::fleet
