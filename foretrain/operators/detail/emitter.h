// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "foretrain/cost/operator_timer.h"
#include "foretrain/cost/straggling.h"
#include "foretrain/operators/program.h"

namespace foretrain::operators {

// Emits the nodes of one worker of a class: a host task launches each kernel, the stream runs them
// in order. Keeps references.
class Emitter {
 public:
  // `passes`: how many the program has.
  Emitter(const Step& step, const graph::Bound& bound, const Resolved& resolved,
          std::int64_t passes, StepProgram& program, WorkerClass& worker);

  // The host copies the step's input before it launches anything.
  void copy_input(Seconds time);

  // A CPU exchanges gradients itself, when they are complete; a GPU copies them to and from
  // buckets. From now on the nodes that complete gradients take that time, too.
  void charge_exchange(const parallel::ExchangePlan& plan);

  // Emits a node of the device, as long as it takes `times`; its first kernel also waits for
  // `after`.
  void emit(graph::NodeId node, double times, const std::vector<sim::TaskId>& after);

  // The host issues a collective that takes it so long on the reference machine.
  sim::TaskId issue_exchange(graph::NodeId node, Seconds time);

  // What the host needs to update parameters itself: to issue it as on the device, and to move the
  // bytes through its memory.
  Seconds host_update_time(graph::NodeId node, double bytes_per_s) const;

  // The next kernel waits for the task.
  void device_waits(sim::TaskId task, double times = 1);
  // The host goes on when the device and the task are done.
  void host_waits(sim::TaskId task);
  void host_waits();

  // The kernel that was emitted last.
  std::optional<sim::TaskId> last_kernel() const { return previous_; }

 private:
  void time_nodes(const Resolved& resolved);
  void copy_gradients(double operators);
  void issue(std::int32_t tag, Seconds host, Seconds kernel);

  const Step& step_;
  const graph::Bound& bound_;
  double slowest_;     // the slowest worker's time over the mean one's
  double host_scale_;  // host time here over that of the reference machine
  bool blocking_;      // the host waits for each kernel
  Seconds wake_up_;    // until it has noticed that one is done
  StepProgram& program_;
  WorkerClass& worker_;
  cost::OperatorTimer timer_;
  Seconds waiting_host_{0};                // host time of nodes that launched nothing yet
  std::vector<Seconds> copying_host_;      // what the host adds to each node to copy gradients
  std::vector<sim::TaskId> host_after_;    // what the host's next task waits for
  std::vector<sim::TaskId> kernel_after_;  // likewise the next kernel
  std::optional<sim::TaskId> previous_;    // kernel
};

}  // namespace foretrain::operators
