// SPDX-License-Identifier: Apache-2.0
// For tests: jobs as the lab runs them, with the stages of their steps.
#pragma once

#include <string>

#include "foretrain/operators/stages.h"
#include "foretrain/request/request.h"
#include "foretrain/request/resolve.h"

namespace foretrain::inspector {

// Two workers on a core each; `more` are further fields.
inline std::string job_of(const std::string& model, const std::string& more = "") {
  return R"({"model": ")" + model +
         R"(", "device": "cpu:cores=1", "batch": 4, "workers": 2, "workers_per_node": 1,)"
         R"( "network": "1gbps")" +
         more + "}";
}

// Parameter servers on hosts of their own.
inline const std::string kServers =
    R"(, "strategy": {"kind": "ps", "servers": 1, "server_placement": [0, 0, 1]})";

// A job with what is looked up for it.
struct Job {
  explicit Job(const std::string& request)
      : resolved(resolve(parse_request(request, "test"), library)),
        stages(operators::run_stages(resolved, library)) {}
  Library library = load_library();
  Resolved resolved;
  operators::Stages stages;
};

}  // namespace foretrain::inspector
