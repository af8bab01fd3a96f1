// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/cost/op_time.h"
#include "foretrain/parallel/exchange.h"
#include "foretrain/sim/sim.h"

namespace foretrain::operators {

// What a task of the step is; Task::tag is the node, or 0.
enum TaskKind : std::int32_t {
  kHostTask,           // the host launches a kernel
  kKernelTask,         // the device runs it
  kCommunicationTask,  // a collective, or a worker's exchange with its servers
  kServerTask,         // a server updates parameters
  kSaturationTask,     // the servers' links are busy with all workers' exchanges
  kCopyTask,           // the host copies the step's input to the device
  kInputTask,          // the input pipeline prepares the next batch
  kHostUpdateTask,     // the host updates parameters
};

// Workers that behave alike: the same device with as many others on its node. One of them is
// simulated.
struct WorkerClass {
  int device = 0;           // Cluster::devices
  int devices_on_node = 1;  // the most of such a node
  int workers = 0;          // how many there are
  sim::ResourceId host = 0;
  sim::ResourceId stream = 0;
  std::vector<cost::OpTime> ops;  // of each node of the step
};

// Bytes that a communication task moves.
struct Transfer {
  sim::TaskId task = 0;
  parallel::Traffic traffic;
};

// One step as tasks on resources.
struct StepProgram {
  sim::Program program;
  std::vector<WorkerClass> classes;
  std::vector<Transfer> transfers;
  double gemm_flops = 0;    // of one worker's step: GEMMs and convolutions
  double opaque_share = 0;  // of the kernels' time, in operators that are not known
  std::vector<std::string> assumptions;
};

}  // namespace foretrain::operators
