// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fleet/simulated_cluster.h"

#include <optional>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/fleet/detail/published_cluster.h"

namespace foretrain::fleet {
namespace {

constexpr std::uintmax_t kLargestFile = 16 << 20;  // bytes
constexpr const char* kDevice = "v100-sxm2-16gb";
constexpr const char* kNetwork = "edr";

// "8x4" as a cluster file.
std::optional<std::string> of_shape(const std::string& text) {
  const std::optional<hw::ClusterShape> shape = hw::cluster_shape(text);
  if (!shape) return std::nullopt;
  const Json node{{"count", shape->nodes}, {"devices", shape->devices}, {"device", kDevice}};
  return json_text(Json{{"nodes", Json::array({node})}, {"network", kNetwork}});
}

}  // namespace

SimulatedCluster read_simulated_cluster(const std::string& text, const hw::Catalog& catalog) {
  SimulatedCluster result;
  const std::optional<std::string> shape = of_shape(text);
  const bool inside = text.starts_with("{");
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos) {
    throw Error(ErrorKind::BadInput, "cluster '" + printable(text) +
                                         "' is only a number; give NODESxDEVICES such as 4x8, or "
                                         "a cluster file");
  }
  const std::string where = shape || inside ? "cluster" : "cluster file " + printable(text);
  std::string json = shape ? *shape : inside ? text : read_file(text, kLargestFile);
  const std::size_t first = json.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && json[first] != '{') {
    json = published_cluster(json, where, result.assumptions);
  }
  if (shape) {
    result.assumptions.push_back(std::string("nodes of ") + kDevice + " joined by " + kNetwork +
                                 " (only the shape is given)");
  }
  result.cluster = hw::parse_cluster(json, where, catalog, &result.assumptions);
  const Json root = parse_json(json, where);  // well-formed, as parse_cluster has seen
  for (const Json& entry : root["nodes"]) {
    Json node{{"device", entry["device"]}};
    if (entry.contains("intra_node")) node["intra_node"] = entry["intra_node"];
    if (root.contains("network")) node["network"] = root["network"];
    if (entry.contains("network")) node["network"] = entry["network"];
    const auto count = static_cast<std::size_t>(entry.value("count", 1));
    result.entry_of.insert(result.entry_of.end(), count, static_cast<int>(result.entries.size()));
    result.entries.push_back(json_text(node));
  }
  return result;
}

std::string cluster_json(const SimulatedCluster& cluster, const sched::Allocation& where) {
  std::string nodes;
  for (const sched::Share& share : where.shares) {
    const int entry = cluster.entry_of[static_cast<std::size_t>(share.node)];
    std::string node = cluster.entries[static_cast<std::size_t>(entry)];
    node.pop_back();
    nodes += (nodes.empty() ? "" : ", ") + node +
             ", \"devices\": " + std::to_string(share.devices) + "}";
  }
  return "{\"nodes\": [" + nodes + "]}";
}

}  // namespace foretrain::fleet
