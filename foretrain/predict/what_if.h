// SPDX-License-Identifier: Apache-2.0
// What would make a job faster: changes of its request, each predicted in full.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/knowledge/library.h"
#include "foretrain/request/request.h"
#include "foretrain/request/resolve.h"

namespace foretrain {

// What one prediction says, as far as changes are compared by it.
struct JobNumbers {
  double step_time_s = 0;
  double sample_time_s = 0;  // of one sample, over all workers: the step over its samples
  std::optional<double> total_time_s;
  std::optional<double> cost_usd;
  double peak_bytes = 0;
  double capacity_bytes = 0;
  bool fits = true;
  bool operator==(const JobNumbers&) const = default;
};

// One change, and the job with it. What it gains is the difference to the job as it is.
struct WhatIf {
  std::string what;     // "half precision (bf16)"
  std::string options;  // what changes, as options of the command
  std::string changes;  // the same as JSON
  std::string request;  // the changed request as JSON
  std::string command;  // that predicts it
  JobNumbers then;
};

struct WhatIfs {
  std::string request;  // as it is, as JSON
  JobNumbers now;
  std::vector<WhatIf> changes;  // those that gain most per sample first
};

// Predicts `request` with each change that applies to it: 16 bits, fused kernels, larger buckets,
// compressed gradients, faster links and hosts, no limit of input, larger batches, another division
// of the same devices. Left out is what is refused and what changes no number. A batch `max` is
// found once and then stays; a model file is read once. Throws Error as `predict` does for the
// request itself.
WhatIfs what_if(const Request& request, const Library& library);

// The same for a model that is in memory.
WhatIfs what_if(const Request& request, std::shared_ptr<const graph::Graph> model,
                const Library& library);

// {"request": {…}, "now": {…}, "what_if": [{…}]}; docs/what_if.md has the fields.
std::string to_json(const WhatIfs& what_ifs);

}  // namespace foretrain
