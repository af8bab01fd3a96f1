// SPDX-License-Identifier: Apache-2.0
// The clusters of data/collectives/clusters/, on which others measured collectives.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/hw/catalog.h"
#include "foretrain/hw/cluster.h"

namespace foretrain::measured {

// Measurements of a cluster that something is wrong with. What is not given matches all.
struct Doubt {
  std::optional<std::string> collective;
  std::optional<int> nodes;
  std::optional<int> devices;        // of each node
  std::optional<double> most_bytes;  // up to this size
  std::string reason;
};

struct MeasuredCluster {
  std::string name;
  std::string device;      // names of the catalog
  std::string intra_node;  // empty: the device's usual one
  std::string network;
  std::optional<double> port_bytes_per_s;      // of a device inside its node, if not the link's
  std::optional<double> flow_cap_bytes_per_s;  // where long transfers between its own nodes show
  std::optional<double> nic_bytes_per_s;       // more than a datasheet says
  std::vector<Doubt> suspect;                  // may be wrong: told apart
  std::vector<Doubt> broken;                   // impossible: left out
};

// Reads a file of data/collectives/clusters/. Throws Error(BadInput) naming `where`.
MeasuredCluster parse_measured_cluster(std::string_view text, const std::string& where);

// The cluster of that name. Throws Error(NotFound) with near matches.
const MeasuredCluster& measured_cluster(std::string_view name);
std::vector<std::string> measured_cluster_names();

// `nodes` of its nodes with `devices` each. Throws Error(NotFound) for hardware that the catalog
// does not have.
hw::Cluster part_of(const MeasuredCluster& cluster, int nodes, int devices,
                    const hw::Catalog& catalog);

}  // namespace foretrain::measured
