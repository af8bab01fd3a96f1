// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/knowledge/library.h"
#include "foretrain/measured/collective_file.h"

namespace foretrain::fit {

struct NetworkFactor {
  std::string device;    // at the links' ends; "cpu" for all CPUs
  double network = 1;    // how much faster the links are than their names say
  std::size_t rows = 0;  // that decide it
};

// By collectives that `foretrain collect collectives` timed: the median of predicted over measured
// times of messages of a mebibyte or more, where bandwidth and not latency decides. Throws
// Error(BadInput) where there is none, or for those of several devices.
NetworkFactor network_by_collectives(const std::vector<measured::CollectiveCase>& cases,
                                     const Library& library);

}  // namespace foretrain::fit
