// SPDX-License-Identifier: Apache-2.0
// The whole flow on one page: a request goes in at the top, a report comes out at the bottom.
#include "foretrain/predict/predict.h"

#include "foretrain/graph/bind.h"

namespace foretrain {
Stages run_stages(const Request& request, const Library& library) {
  Stages stages;
  stages.setting = find_setting(request, library);           // devices, links, framework
  stages.step = find_step(request, stages.setting, library);  // model, backward, update, fusion
  stages.bound = graph::bind(stages.step->graph, {{"batch", stages.setting.batch}});
  stages.job = lower(*stages.step, stages.bound, stages.setting, request, library);  // cost, comm
  stages.timeline = sim::run(stages.job.program);
  return stages;
}

Report predict(const Request& request, const Library& library) {
  return summarise(run_stages(request, library), request, library);
}

}  // namespace foretrain
