// SPDX-License-Identifier: Apache-2.0
// Files of measured operators: each row becomes a graph of one node, with its gradients where they
// were timed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "foretrain/cost/operator_timer.h"
#include "foretrain/graph/bind.h"
#include "foretrain/hw/catalog.h"
#include "foretrain/knowledge/calibration.h"

namespace foretrain::evaluate {

struct OperatorCase {
  std::size_t line = 0;
  std::string device;  // the measurement's word
  std::string op;      // likewise: "bmm", "conv", ...
  std::string split;   // "train" or "test"
  Precision precision = Precision::Fp32;
  double measured_s = 0;
  double overhead_s = 0;                         // of the host and the timer, in the measured time
  graph::Phase phase = graph::Phase::Forward;    // of the nodes that were timed
  std::optional<cost::ConvAlgorithm> algorithm;  // of a convolution, where its kernels are named
  graph::Graph graph;
  graph::Bound bound;  // of `graph`, so a case stays where it is
};

using OperatorCases = std::vector<std::unique_ptr<OperatorCase>>;

// Whether the file is one of those that read_operators knows, by its columns.
bool has_operators(const std::vector<std::string>& columns);

// Every `stride`-th row of a file of NeuSight's (products, convolutions, or what streams memory),
// or of operators that `foretrain collect operators` timed (the store's table, docs/store.md).
// Throws Error(BadInput) naming the line, Io.
OperatorCases read_operators(const std::filesystem::path& path, std::size_t stride = 1);

// Times operators by one model; devices are looked up once. What is given must outlive the clock.
class OperatorClock {
 public:
  OperatorClock(const hw::Catalog& catalog, const cost::OperatorModel& model,
                std::span<const Calibration> calibrations = {})
      : catalog_(catalog), model_(model), calibrations_(calibrations) {}

  // Seconds with the overhead. Throws Error(NotFound) for an unknown device.
  double time_s(const OperatorCase& one);
  // Of a convolution, when it is computed this way.
  double time_s(const OperatorCase& one, cost::ConvAlgorithm algorithm);
  const hw::Device& device(const std::string& name);

 private:
  struct Place {
    std::unique_ptr<hw::Device> device;
    std::map<Precision, cost::OperatorTimer> timers;
  };

  Place& place(const std::string& name);
  const cost::OperatorTimer& timer(const OperatorCase& one);

  const hw::Catalog& catalog_;
  const cost::OperatorModel& model_;
  std::span<const Calibration> calibrations_;
  std::map<std::string, Place> places_;
};

}  // namespace foretrain::evaluate
