// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "foretrain/engine/engine.h"
#include "foretrain/graph/bind.h"
#include "foretrain/operators/program.h"
#include "foretrain/sim/sim.h"

namespace foretrain::operators {

// Every stage of one step, from the graph to the timeline. The step ends where the timeline does.
struct Stages {
  std::shared_ptr<const Step> step;
  graph::Bound bound;
  StepProgram program;
  sim::Timeline timeline;
};

Stages run_stages(const Resolved& resolved, const Library& library);

// The stages of a question, run once however many engines build on them.
const Stages& stages_of(const Question& question);

// Turns a bound step into tasks: kernels behind host launches, the strategy's communication and
// the input.
StepProgram lower(const Step& step, const graph::Bound& bound, const Resolved& resolved);

}  // namespace foretrain::operators
