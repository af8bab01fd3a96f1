// SPDX-License-Identifier: Apache-2.0
// Predicts the same measured steps again and again with other constants, fast.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "foretrain/cost/constants.h"
#include "foretrain/evaluate/cases.h"
#include "foretrain/fit/machine.h"
#include "foretrain/graph/bind.h"
#include "foretrain/request/resolve.h"

namespace foretrain::fit {

// A measured step on one device with all that its predicted time depends on besides constants.
struct StepCase {
  std::string model;
  std::string device;  // the catalog's name
  Precision precision = Precision::Fp32;
  double measured_s = 0;
  Seconds input{0};  // what the step waits for its input
  Resolved resolved;
  std::shared_ptr<const Step> step;
  graph::Bound bound;
  std::vector<std::size_t> first;  // of nodes that are alike, the first one
  std::vector<std::size_t> like;   // of each node: its place in `first`
};

// Prepares a predicted row of `evaluate`. Throws Error where its request cannot be predicted.
std::unique_ptr<StepCase> make_step_case(const evaluate::Case& row, const Library& library);

// The step's time, as `predict` gives it for the reference machine: each node's kernel begins when
// the host has issued it and the one before has ended.
Seconds step_time(const StepCase& one, const cost::OperatorModel& model, const Machine& machine);

}  // namespace foretrain::fit
