// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/cli/console.h"
#include "foretrain/sched/simulate.h"

namespace foretrain::cli {

// One simulation and what was assumed for it.
struct SimulationReport {
  std::string policy;
  std::string placement;
  std::uint64_t seed = 0;
  sched::Summary summary;
  std::vector<std::string> assumptions;
};

std::string simulation_json(const SimulationReport& report);
// Several simulations side by side, those of one policy with different seeds as their mean.
std::string sweep_json(const std::vector<SimulationReport>& reports);
std::string sweep_text(const std::vector<SimulationReport>& reports, const Screen& screen);

std::string simulation_text(const SimulationReport& report, const Screen& screen);

// CSV: a line per job, in the order in which they end; a line per event.
std::string jobs_header();
std::string jobs_line(const sched::Active& ended, Seconds now);
std::string events_header();
std::string events_line(sched::Happening what, Seconds now, const sched::Active* active, int node);

}  // namespace foretrain::cli
