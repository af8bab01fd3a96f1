// SPDX-License-Identifier: Apache-2.0
#include "foretrain/operators/detail/pipeline.h"
#include "foretrain/operators/detail/step.h"
#include "foretrain/operators/stages.h"

namespace foretrain::operators {

Stages run_stages(const Resolved& resolved, const Library& library) {
  Stages stages;
  stages.step = find_step(resolved, library);  // model, backward, update, fusion, collectives
  if (stages.step->pipeline) return run_pipeline(*stages.step, resolved);
  stages.bound = graph::bind(stages.step->graph, {{"batch", resolved.micro_batch}});
  stages.program = lower(*stages.step, stages.bound, resolved);  // cost, parallel
  stages.timeline = sim::run(stages.program.program);
  return stages;
}

const Stages& stages_of(const Question& question) {
  return question.shared<Stages>(
      [&] { return run_stages(question.resolved(), question.library()); });
}

}  // namespace foretrain::operators
