// SPDX-License-Identifier: Apache-2.0
// The whole flow on one page: a request goes in at the top, a report comes out at the bottom.
#include "foretrain/predict/predict.h"

#include <utility>

#include "foretrain/graph/bind.h"

namespace foretrain {
namespace {

Stages run_step(Setting setting, std::shared_ptr<const Step> step, const Request& request,
                const Library& library) {
  Stages stages;
  stages.setting = std::move(setting);
  stages.step = std::move(step);
  stages.bound = graph::bind(stages.step->graph, {{"batch", stages.setting.micro_batch}});
  stages.job = lower(*stages.step, stages.bound, stages.setting, request, library);  // cost, comm
  stages.timeline = sim::run(stages.job.program);
  return stages;
}

}  // namespace

Stages run_stages(const Request& request, const Library& library) {
  Setting setting = find_setting(request, library);  // devices, links, framework
  auto step = find_step(request, setting, library);  // model, backward, update, fusion
  return run_step(std::move(setting), std::move(step), request, library);
}

Stages run_stages(const Request& request, const graph::Graph& model, const Library& library) {
  Setting setting = find_setting(request, library);
  auto step = make_step(model, request, setting);
  return run_step(std::move(setting), std::move(step), request, library);
}

Report predict(const Request& request, const Library& library) {
  return summarise(run_stages(request, library), request, library);
}

Report predict(const Request& request, const graph::Graph& model, const Library& library) {
  return summarise(run_stages(request, model, library), request, library);
}

}  // namespace foretrain
