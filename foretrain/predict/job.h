// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "foretrain/cost/op_time.h"
#include "foretrain/graph/bind.h"
#include "foretrain/predict/library.h"
#include "foretrain/predict/request.h"
#include "foretrain/predict/setting.h"
#include "foretrain/sim/sim.h"

namespace foretrain {

// What a task of the step is; Task::tag is the node, the bucket or 0.
enum TaskKind : std::int32_t { kHostTask, kKernelTask, kCommunicationTask, kServerTask };

// Workers that behave alike: the same device in the same company. One of them is simulated.
struct WorkerClass {
  int device = 0;           // Cluster::devices
  int devices_on_node = 1;  // the most of such a node
  int workers = 0;          // how many there are
  sim::ResourceId host = 0;
  sim::ResourceId stream = 0;
  std::vector<cost::OpTime> ops;  // of each node of the step
};

// Bytes that a communication task moves over the network, for the busiest node of each role.
struct Transfer {
  sim::TaskId task = 0;
  double worker_tx_bytes = 0;
  double worker_rx_bytes = 0;
  double server_tx_bytes = 0;
  double server_rx_bytes = 0;
};

// One step as tasks on resources.
struct Job {
  sim::Program program;
  std::vector<WorkerClass> classes;
  std::vector<Transfer> transfers;
  double product_flops = 0;  // of one worker's step
  Seconds floor{0};          // no step takes less: a saturated server
  double opaque_share = 0;   // of the kernels' time, in operators that are not known
  std::vector<std::string> assumptions;
};

// Gradients that travel together, in the order in which they are ready.
struct Bucket {
  double bytes = 0;
  graph::NodeId ready = 0;  // the node after which all of it is there
};

// Fills buckets in ready order: the first up to `first_bytes`, the others up to `bytes`; a
// gradient is never divided.
std::vector<Bucket> make_buckets(const Step& step, const graph::Bound& bound, double first_bytes,
                                 double bytes);

// Turns a bound step into tasks: kernels behind host launches, and the communication of the
// request's strategy.
Job lower(const Step& step, const graph::Bound& bound, const Setting& setting,
          const Request& request, const Library& library);

}  // namespace foretrain
