// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/predict/report.h"
#include "foretrain/request/resolve.h"

namespace foretrain {

// A request with one thing changed.
struct RequestChange {
  std::string what;
  Request request;
  bool split = false;  // other degrees of model parallelism: the best few are kept
};

// All that may make a job faster which is predicted as `now`. Some may be refused.
std::vector<RequestChange> request_changes(const Request& request, const Resolved& resolved,
                                           const Report& now);

// `request` with so many samples per data-parallel rank and step, and as many fewer steps where
// its length is in steps.
Request with_batch(Request request, std::int64_t batch, const Resolved& resolved);

}  // namespace foretrain
