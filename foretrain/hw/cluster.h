// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/hw/catalog.h"
#include "foretrain/hw/device.h"
#include "foretrain/hw/link.h"

namespace foretrain::hw {

// `devices` equal devices in one machine. Indices point into the vectors of the Cluster.
struct Node {
  int device = 0;  // Cluster::devices
  int devices = 1;
  int intra_node = 0;  // Cluster::links
  int network = 0;     // Cluster::links: the node's own NICs
  int rack = 0;        // nodes of one rack are near each other
};

// Where a job runs: the nodes in rank order. Ranks are numbered node by node.
struct Cluster {
  std::vector<Device> devices;
  std::vector<Link> links;
  std::vector<Node> nodes;
};

inline constexpr int kMostNodes = 100'000;
inline constexpr int kMostDevices = 1'000'000;

int worker_count(const Cluster& cluster);

// How many there are of each of Cluster::devices.
std::vector<int> device_counts(const Cluster& cluster);

// "8x4", "8X4": eight nodes of four devices each, whatever they are. Nothing where `text` is no
// such thing. Numbers may be of any size and sign, so that who reads them can say what is wrong.
struct ClusterShape {
  long long nodes = 0;
  long long devices = 0;
};
std::optional<ClusterShape> cluster_shape(const std::string& text);

// Reads a cluster file, a JSON object:
//   {"nodes": [{"count": 32, "device": "v100-sxm2-16gb", "devices": 4, "intra_node": "nvlink2"}],
//    "network": "edr"}
// Several entries make a mixed cluster; an entry may have a `network` and a `rack` (a number) of
// its own, or `nodes_per_rack`, which fills racks from that one on. Devices and
// links are names of the catalog or objects. count and devices default to 1, intra_node to the
// device's own; the network is required when there is more than one node. What was assumed is
// added to `assumptions`, `where` begins every message. Throws Error: BadInput, NotFound.
Cluster parse_cluster(std::string_view text, const std::string& where, const Catalog& catalog,
                      std::vector<std::string>* assumptions);

}  // namespace foretrain::hw
