// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "foretrain/base/precision.h"
#include "foretrain/base/seconds.h"
#include "foretrain/cost/constants.h"
#include "foretrain/cost/framework.h"
#include "foretrain/cost/op_time.h"
#include "foretrain/graph/op.h"
#include "foretrain/hw/device.h"

namespace foretrain::cost {

// A model that outlives whoever uses it.
inline std::shared_ptr<const OperatorModel> borrowed(const OperatorModel& model) {
  return {std::shared_ptr<void>(), &model};
}

// How operators follow one another: as a step's do, or one by itself again and again, which then
// finds its data in caches.
enum class Repetition : std::uint8_t { InStep, Alone };

// Times operators on one device in one framework and precision, by the analytic operator model:
// tiles and waves for GEMMs, passes over memory for the rest. What all operators share
// (sustained rates, launch times) is computed once. Copies share it; threads may too.
class OperatorTimer {
 public:
  OperatorTimer(const hw::Device& device, const Framework& framework, Precision precision,
                std::shared_ptr<const OperatorModel> model,
                Repetition repetition = Repetition::InStep);

  // What the device is busy with a node.
  OpTime time(const graph::NodeView& view, const graph::Work& work) const;

  // Of a convolution, when it is computed this way.
  OpTime conv_time(const graph::NodeView& view, ConvAlgorithm algorithm) const;

  // What the host needs to issue a node, on the reference machine.
  Seconds host_time(const graph::NodeView& view) const;

  // In how many parts host and device share a node (cost::launch_parts).
  int launch_parts(const graph::Node& node, int kernels) const;

  // Bytes that an update moves in this framework, wherever it runs.
  double update_bytes(const graph::NodeView& view) const;

  // A kernel that reads and writes so many bytes once, and what the host needs to launch it as one
  // of an optimizer's.
  Seconds copy_time(double bytes) const;
  Seconds copy_host_time() const;

  // Shortens the operators of one step on a device that its power limits: the limit holds for the
  // average over many kernels, and memory-bound ones draw less (constant power.memory_bound).
  //
  //   T = max(sum of t p, sum of max(c', m))     p = s + (1 - s) min(1, c / m)
  //
  // t: an operator's time, c and m its compute and memory time, c' without the power limit. What
  // is saved against the sum of t is taken from operators bound by arithmetic, in proportion to
  // c - m.
  void share_power(std::span<OpTime> step) const;

  // Of a CPU: how many times longer calls take than where they were counted (cost/cpu.h).
  double cpu_call_factor() const;

  const hw::Device& device() const;

 private:
  struct Parts;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace foretrain::cost
