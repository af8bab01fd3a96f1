// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "foretrain/operators/detail/pass_times.h"
#include "foretrain/parallel/schedule.h"

namespace foretrain::operators {

// The timeline of a pipeline. Each kind of stage is lowered alone, which gives the time of its
// passes; then a task for each pass, in the order of the schedule, waits for what its neighbours
// send. Throws Error(Unsupported) where there are too many passes.
Stages run_pipeline(const Step& step, const Resolved& resolved);

// The tasks of a pipeline whose stages have these passes, each on the stream of its stage. The
// first resources are these streams. `shown` is the stage whose transfers are listed.
StepProgram schedule(const std::vector<const StagePasses*>& stages,
                     const parallel::Pipeline& pipeline,
                     const std::vector<StageSteps::Shared>& shared, const Resolved& resolved,
                     int shown);

}  // namespace foretrain::operators
