// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/cost/op_time.h"
#include "foretrain/graph/bind.h"

namespace foretrain::measured {

// A measured operator as a graph of one node, with its gradients where they were timed.
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

}  // namespace foretrain::measured
