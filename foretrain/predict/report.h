// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/base/precision.h"
#include "foretrain/engine/parts.h"
#include "foretrain/knowledge/regime.h"
#include "foretrain/predict/job_time.h"
#include "foretrain/request/request.h"

namespace foretrain {

// What the report is about.
struct JobReport {
  std::string model;            // as the request names it
  std::string graph;            // the model's own name, without parameters
  std::int64_t parameters = 0;  // learned values
  std::string cluster;          // "8 x v100-sxm2-16gb on 2 nodes"
  std::string servers;          // of parameters: "asynchronous parameter servers: 2"; or ""
  Mode mode = Mode::Train;
  Precision precision = Precision::Fp32;
  std::string framework;   // and how it runs operators: "pytorch (eager)"
  std::int64_t batch = 1;  // per data-parallel rank
  int workers = 1;
  int data_parallel = 1;  // of them work on different samples
};

// Which engine a number comes from.
struct EngineReport {
  std::string number;  // "step_time_s", "memory_bytes", "resources"
  std::string engine;
  std::string why;
};

// A change of a request that does not fit, with which it does.
struct Remedy {
  std::string change;   // as options of the command: "--recompute full"
  std::string request;  // the fields that change, as JSON
  double step_time_s = 0;
  double samples_per_s = 0;
  double peak_bytes = 0;
  double capacity_bytes = 0;
};

struct Report {
  JobReport job;
  Estimate step_time_s;
  double samples_per_s = 0;
  std::optional<double> tokens_per_s;
  std::optional<double> tokens_per_s_per_device;
  std::optional<double> mfu;  // share of the device's peak that the model's own GEMMs use
  std::optional<Estimate> epoch_time_s;
  std::optional<Estimate> total_time_s;
  std::optional<JobTime> job_time;  // what the total is made of, where the request asks for effects
  Breakdown breakdown;
  Phases phases;
  Seconds communication{0};  // all of it, hidden or not
  double sent_bytes = 0;     // by the busiest worker's node in a step
  MemoryReport memory;
  ResourcesReport resources;
  std::optional<Estimate> cost_usd;
  std::string price_of;  // whose the cost's price is: "aws p3.16xlarge"; "" if the request's
  std::vector<OperatorReport> top_operators;
  Regime regime;  // what the step's error depends on
  std::string engine = "operators";
  std::vector<EngineReport> engines;
  std::vector<Remedy> would_fit;  // where it does not: the fastest per sample first
  std::vector<std::string> assumptions;
  std::vector<std::string> warnings;
};

// As JSON, on one line.
std::string to_json(const Report& report);

}  // namespace foretrain
