// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "foretrain/predict/job.h"
#include "foretrain/predict/library.h"
#include "foretrain/predict/report.h"
#include "foretrain/predict/request.h"
#include "foretrain/sim/sim.h"

namespace foretrain {

// Every stage of one prediction, for those who want to look inside.
struct Stages {
  Setting setting;
  std::shared_ptr<const Step> step;
  graph::Bound bound;
  Job job;
  sim::Timeline timeline;
};

// Predicts time, memory, resource use and cost of one job. Throws Error: see find_setting and
// find_model; nothing else.
Report predict(const Request& request, const Library& library);
Stages run_stages(const Request& request, const Library& library);

// The same for a model that is in memory; what the request calls it does not matter.
Report predict(const Request& request, const graph::Graph& model, const Library& library);
Stages run_stages(const Request& request, const graph::Graph& model, const Library& library);

Report summarise(const Stages& stages, const Request& request, const Library& library);

// The predicted timeline of one step in the Chrome trace format (opens in Perfetto).
std::string to_chrome_trace(const Stages& stages);

// A stage as JSON: "graph" (in .ftg.json), "tasks" or "timeline". Throws Error(BadInput).
std::string dump_stage(const Stages& stages, const std::string& stage);

}  // namespace foretrain
