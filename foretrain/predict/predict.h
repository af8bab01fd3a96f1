// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "foretrain/engine/engine.h"
#include "foretrain/predict/report.h"
#include "foretrain/request/request.h"
#include "foretrain/request/resolve.h"

namespace foretrain {

// Predicts time, memory, resource use and cost of one job. Throws Error: see resolve and
// find_model; nothing else.
Report predict(const Request& request, const Library& library);

// The same for a model that is in memory; what the request calls it does not matter.
Report predict(const Request& request, std::shared_ptr<const graph::Graph> model,
               const Library& library);

// What a prediction is asked: the request with everything looked up and, where it wants the largest
// batch that fits, that batch.
Resolved resolve_job(const Request& request, const Library& library);

// The same for a question, whose stages others can look at as well.
Report predict(const Question& question);

// The engines that are asked.
std::vector<const Engine*> engines_for(const Question& question);

}  // namespace foretrain
