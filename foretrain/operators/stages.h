// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "foretrain/engine/engine.h"
#include "foretrain/graph/bind.h"
#include "foretrain/operators/program.h"
#include "foretrain/sim/sim.h"

namespace foretrain::operators {

// The step of a pipeline's stage.
struct PipelineStage {
  std::shared_ptr<const Step> step;
  std::shared_ptr<const graph::Bound> bound;
};

// Every stage of one step, from the graph to the timeline. The step ends where the timeline does.
// Of a pipeline the timeline is that of all its stages; graph, operators and the worker are those
// of the stage that works longest.
struct Stages {
  std::shared_ptr<const Step> step;
  graph::Bound bound;
  StepProgram program;
  sim::Timeline timeline;
  std::vector<PipelineStage> pipeline;  // empty: the model is not cut
  int shown_stage = 0;                  // of the pipeline: the one that works longest
};

Stages run_stages(const Resolved& resolved, const Library& library);

// The stages of a question, run once however many engines build on them.
const Stages& stages_of(const Question& question);

// Turns so many passes of a bound step into tasks, without the input pipeline.
StepProgram lower_passes(const Step& step, const graph::Bound& bound, const Resolved& resolved,
                         std::int64_t passes);

// Turns a bound step into tasks: kernels behind host launches, the strategy's communication and
// the input.
StepProgram lower(const Step& step, const graph::Bound& bound, const Resolved& resolved);

}  // namespace foretrain::operators
