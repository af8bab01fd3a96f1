// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace foretrain::lab {

// Whole jobs of one model that differ in their workers and in their share of the data.
struct DesignedJobs {
  std::string model{};
  std::int64_t batch = 0;    // of one worker
  std::int64_t samples = 0;  // of the whole data set
  std::string optimizer{"momentum"};
  double cores = 1;       // of each worker: below 1 a share of its core
  std::string network{};  // "1gbps"; "": not shaped
};

struct DesignedRun {
  double workers = 1;
  double fraction = 1;  // of the data set
};

// A campaign that makes these runs (docs/collect.md). Throws Error(BadInput) for workers that are
// no whole number, for a run whose share of the data is less than one batch of every worker, and
// for what a campaign cannot have.
std::string design_campaign(const DesignedJobs& jobs, const std::vector<DesignedRun>& runs);

}  // namespace foretrain::lab
