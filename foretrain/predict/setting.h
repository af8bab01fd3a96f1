// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/cost/framework.h"
#include "foretrain/hw/cluster.h"
#include "foretrain/predict/library.h"
#include "foretrain/predict/request.h"

namespace foretrain {

// A request with everything looked up: what runs where.
struct Setting {
  hw::Cluster cluster;
  std::shared_ptr<const cost::Framework> framework;
  std::shared_ptr<const cost::OperatorModel> operators;
  std::shared_ptr<const Intervals> intervals;  // a user's own; null: those that are shipped
  double host_speed = 1;                       // against the reference machine
  double startup_s = 0;      // of a whole job, besides its steps; known by calibration only
  hw::Device server_device;  // of parameter servers
  int workers = 1;
  double variation = 0;    // of a worker's steps: standard deviation of their time over its mean
  std::int64_t batch = 1;  // per worker and step
  std::int64_t micro_batch = 1;  // per forward pass
  std::int64_t passes = 1;       // forward and backward passes per step: batch / micro_batch
  bool flash_attention = false;
  std::optional<double> samples;         // in the data set
  std::optional<hw::Instance> instance;  // of the cloud
  std::vector<std::string> assumptions;
};

// Looks up devices, links, framework and data set. Throws Error: NotFound with near matches,
// Unsupported for what a device or this version cannot do, BadInput for what does not fit.
Setting find_setting(const Request& request, const Library& library);

// The step that the request asks for, from the cache or prepared now: the model with its
// precision, gradients, update and fusions.
std::shared_ptr<const Step> find_step(const Request& request, const Setting& setting,
                                      const Library& library);

// The step of a model that is in memory, prepared now.
std::shared_ptr<const Step> make_step(graph::Graph model, const Request& request,
                                      const Setting& setting);

// The model alone: built in, or read from a file.
graph::Graph find_model(const std::string& model, const Library& library);

}  // namespace foretrain
