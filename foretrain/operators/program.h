// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/cost/op_time.h"
#include "foretrain/engine/parts.h"
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
  kPassTask,     // a stage of a pipeline runs one of StepProgram::passes, which the tag counts
  kReceiveTask,  // it waits while it receives one of StepProgram::sends
};

enum class PassKind : std::uint8_t { Start, Forward, Backward, Exchange, Update };

// What a stage of a pipeline does in one go: the forward or backward pass of a micro-batch through
// a part of the model, or what a step begins and ends with.
struct Pass {
  PassKind kind = PassKind::Forward;
  int stage = 0;
  int part = 0;  // of the stage
  Seconds time{0};
  Breakdown parts;           // of its time
  Seconds touching{0};       // in which device memory is read or written
  Seconds communication{0};  // its collectives, hidden or not
  parallel::Traffic traffic{};
};

// What a stage of a pipeline sends to another, or what several sum.
struct StageSend {
  int from = 0;
  int to = 0;
  bool backward = false;
  double bytes = 0;
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
  std::vector<Pass> passes;      // of a pipeline
  std::vector<StageSend> sends;  // likewise: a communication task's tag counts them
  double gemm_flops = 0;    // of one worker's step: GEMMs and convolutions; as fp32 where in TF32
  double opaque_share = 0;  // of the kernels' time, in operators that are not known
  std::vector<std::string> assumptions;
};

}  // namespace foretrain::operators
