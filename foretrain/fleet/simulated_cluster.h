// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/hw/cluster.h"
#include "foretrain/sched/job.h"

namespace foretrain::fleet {

// A cluster and how its file describes each node, so that parts of it can be asked about.
struct SimulatedCluster {
  hw::Cluster cluster;
  std::vector<std::string> entries;  // JSON of a node without count and devices
  std::vector<int> entry_of;         // by node
  std::vector<std::string> assumptions;
};

// `text` names a cluster file or a CSV that was published (published_cluster.h), or is the JSON of
// a cluster file, or NODESxDEVICES ("8x4": of v100-sxm2-16gb, joined by edr). Throws Error.
SimulatedCluster read_simulated_cluster(const std::string& text, const hw::Catalog& catalog);

// The nodes of an allocation as a cluster file.
std::string cluster_json(const SimulatedCluster& cluster, const sched::Allocation& where);

}  // namespace foretrain::fleet
