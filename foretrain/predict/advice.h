// SPDX-License-Identifier: Apache-2.0
// What would make a job fit that does not: changes of its request, each predicted.
#pragma once

#include <cstddef>

#include "foretrain/knowledge/library.h"
#include "foretrain/predict/report.h"
#include "foretrain/predict/vary.h"
#include "foretrain/request/request.h"

namespace foretrain {

// The report of `request` and, where the job does not fit, what would in `would_fit`: a smaller
// batch or the same in more passes, recomputation, sharding over the same workers, offload to the
// host, weights in 16 bits, an optimizer with 8-bit states, adapters, the next larger device;
// several of these together where none alone does. The fastest per sample first. What this version
// refuses is left out. `nodes`: of the graph that a prediction looks at; of a model with hundreds
// of thousands only the first changes are tried, and a warning says so.
Report advise(Report report, const Request& request, const Library& library, const Predict& predict,
              std::size_t nodes);

// predict, then advise.
Report predict_and_advise(const Request& request, const Library& library);

}  // namespace foretrain
