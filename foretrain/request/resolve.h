// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/graph/passes.h"
#include "foretrain/graph/recompute.h"
#include "foretrain/hw/cluster.h"
#include "foretrain/knowledge/library.h"
#include "foretrain/request/job_effects.h"
#include "foretrain/request/model.h"
#include "foretrain/request/offload.h"
#include "foretrain/request/request.h"

namespace foretrain {

// The length of a job, as far as the request states it.
struct Length {
  std::optional<double> samples;  // in the data set
  std::optional<double> epochs;
  std::optional<double> steps;
  std::optional<double> tokens;
};

// A request with everything looked up: what runs where, as values. No text of the request is
// parsed again further down; the model builds its own graph when the first engine wants it.
struct Resolved {
  Model model;
  Mode mode = Mode::Train;
  Precision precision = Precision::Fp32;
  Weights weights = Weights::Fp32;
  graph::Optimizer optimizer = graph::Optimizer::Sgd;
  bool fused_optimizer = false;       // as the request says, whatever the framework does itself
  std::optional<double> mean_length;  // of samples, in tokens, where they differ
  double length_deviation = 0;        // likewise
  graph::Trainable trainable;
  graph::Recompute recompute = graph::Recompute::None;
  bool flash_attention = false;
  Strategy strategy;

  hw::Cluster cluster;
  int workers = 1;
  int data_parallel = 1;         // workers / (tensor pipeline context)
  std::int64_t batch = 1;        // per data-parallel rank and step
  bool largest_batch = false;    // that is to be found; `batch` is 1 until then
  std::int64_t micro_batch = 1;  // per forward pass
  std::int64_t passes = 1;       // forward and backward passes per step: batch / micro_batch
  hw::Device server_device;      // of parameter servers
  Offload offload;               // to the host's memory
  std::shared_ptr<const cost::Framework> framework;
  std::shared_ptr<const cost::OperatorModel> operators;
  std::shared_ptr<const comm::Constants> collectives;
  std::shared_ptr<const comm::ExchangeCosts> exchange;
  std::shared_ptr<const cost::Straggling> straggling;
  std::shared_ptr<const memory::ContextBytes> memory_context;
  double host_speed = 1;  // against the reference machine, calibrated
  double variation = 0;   // of a worker's steps: standard deviation of their time over its mean
  std::optional<double> input_rate;  // samples/s of one worker's input pipeline
  std::optional<double> copy_rate;   // bytes/s of an input copy that each step waits for
  double input_speed = 1;            // that both were calibrated by
  double seen_input_rate = 0;        // samples/s that runs did not exceed; 0: none seen
  bool waits_for_input = false;      // nothing loads beside the step: it begins with its input
  std::optional<double> context_bytes;

  Length length;
  JobEffects effects;
  double startup_s = 0;  // of a whole job, besides its steps; known by calibration only
  std::optional<double> price_per_device_hour;
  std::optional<hw::Instance> instance;  // of the cloud

  std::string engine = "auto";
  std::shared_ptr<const Intervals> intervals;
  std::shared_ptr<const MemoryIntervals> memory_intervals;
  std::shared_ptr<const InspectorModel> inspector;  // absent where none was given
  std::shared_ptr<const ScalingModel> scaling;      // likewise
  std::shared_ptr<const EmbeddingModel> embedding;  // likewise
  bool own_intervals = false;                       // the request's predictors gave them
  bool own_predictors = false;                      // the request names some
  std::vector<std::string> assumptions;
};

// Looks up devices, links, framework and data set. Throws Error: NotFound with near matches,
// Unsupported for what a device or this version cannot do, BadInput for what does not fit.
Resolved resolve(const Request& request, const Library& library);

// The same for a model that is in memory; what the request calls it does not matter.
Resolved resolve(const Request& request, std::shared_ptr<const graph::Graph> model,
                 const Library& library);

}  // namespace foretrain
