// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "foretrain/lab/campaign.h"
#include "foretrain/lab/hosts.h"
#include "foretrain/lab/workers.h"
#include "foretrain/store/rows.h"

namespace foretrain::lab {

// What all runs of a lab share.
struct Bench {
  Hosts& hosts;
  Workers& workers;
  WorkerOptions worker_options;
  double memory_bytes_per_s = 0;  // that is 100 % of memory activity; 0: it is not recorded
  int jobs = 0;                   // made so far
  std::map<std::string, std::string> graphs{};  // of each model, as one line of our graph format
};

// The graph of a model as one line. Throws Error as find_model does.
const std::string& graph_line(Bench& bench, const std::string& model);

// Gives every host what the setting says: the workers' come first, then the servers'.
void apply_setting(const Setting& setting, Hosts& hosts);

// Trains once and reports; campaign, machine, repeat and calibration are left to the caller. Throws
// Error(Io) where a worker failed: then the workers are in no defined state.
store::RunRecord measure(const Campaign& campaign, const Configuration& configuration,
                         Bench& bench);

}  // namespace foretrain::lab
