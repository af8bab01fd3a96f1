// SPDX-License-Identifier: Apache-2.0
#include "foretrain/hw/cluster.h"

#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"

namespace foretrain::hw {
namespace {

constexpr int kMostDevicesOfNode = 1024;

int count_of(JsonFields& fields, const std::string& key, int most) {
  const std::int64_t value = fields.integer(key).value_or(1);
  if (value < 1 || value > most) {
    throw Error(ErrorKind::BadInput,
                fields.where() + ": '" + key + "' must be 1 to " + std::to_string(most));
  }
  return static_cast<int>(value);
}

int rack_of(JsonFields& fields) {
  const std::int64_t rack = fields.integer("rack").value_or(0);
  if (rack < 0 || rack > kMostNodes) {
    throw Error(ErrorKind::BadInput,
                fields.where() + ": 'rack' must be 0 to " + std::to_string(kMostNodes));
  }
  return static_cast<int>(rack);
}

// Builds the cluster entry by entry; equal descriptions share one device or link.
class Builder {
 public:
  Builder(const Catalog& catalog, std::vector<std::string>* assumptions)
      : catalog_(catalog), assumptions_(assumptions) {}

  void add_nodes(const Json& entry, const Json* network, const std::string& where) {
    JsonFields fields(entry, where);
    const int count = count_of(fields, "count", kMostNodes);
    Node node;
    node.devices = count_of(fields, "devices", kMostDevicesOfNode);
    node.device = device_of(fields.require("device"), where + ": device");
    node.intra_node = intra_node_of(fields.find("intra_node"), node.device, where + ": intra_node");
    const Json* own = fields.find("network");
    node.rack = rack_of(fields);
    const bool racks = fields.has("nodes_per_rack");
    const int per_rack = count_of(fields, "nodes_per_rack", kMostNodes);
    fields.finish();
    nodes_ += count;
    devices_ += std::int64_t{count} * node.devices;
    if (nodes_ > kMostNodes || devices_ > kMostDevices) {
      throw Error(ErrorKind::BadInput, where + ": a cluster has at most " +
                                           std::to_string(kMostNodes) + " nodes and " +
                                           std::to_string(kMostDevices) + " devices");
    }
    if (own == nullptr) own = network;
    if (own == nullptr) node_without_network_ = where;
    node.network = own == nullptr
                       ? node.intra_node
                       : network_of(*own, (own == network ? "" : where + ": ") + "network");
    for (int i = 0; i < count; ++i) {
      cluster_.nodes.push_back(node);
      if (racks) cluster_.nodes.back().rack += i / per_rack;
    }
  }

  Cluster finish(const std::string& where) && {
    if (nodes_ == 0) throw Error(ErrorKind::BadInput, where + ": 'nodes' is empty; list some");
    if (nodes_ > 1 && node_without_network_) {
      throw Error(ErrorKind::BadInput, *node_without_network_ +
                                           ": 'network' is missing; say what "
                                           "joins the nodes, such as \"edr\" or \"25gbe\"");
    }
    return std::move(cluster_);
  }

 private:
  int device_of(const Json& json, const std::string& where) {
    return once(devices_seen_, json_text(json), [&] {
      cluster_.devices.push_back(json.is_string()
                                     ? find_device(catalog_, json.get<std::string>(), assumptions_)
                                     : parse_device(json_text(json), where, assumptions_));
      return cluster_.devices.size();
    });
  }

  int intra_node_of(const Json* json, int device, const std::string& where) {
    const bool named = json == nullptr || json->is_string();
    const std::string key = json == nullptr ? "" : json_text(*json);
    return once(links_seen_, std::to_string(device) + " " + key, [&] {
      const Device& joined = cluster_.devices[static_cast<std::size_t>(device)];
      const std::string name = json == nullptr || !named ? "" : json->get<std::string>();
      cluster_.links.push_back(
          named ? find_intra_node(catalog_, name, joined, assumptions_)
                : parse_link(json_text(*json), where, catalog_.assumed_link, assumptions_));
      return cluster_.links.size();
    });
  }

  int network_of(const Json& json, const std::string& where) {
    return once(links_seen_, "network " + json_text(json), [&] {
      cluster_.links.push_back(json.is_string() ? find_link(catalog_, json.get<std::string>())
                                                : parse_link(json_text(json), where,
                                                             catalog_.assumed_link, assumptions_));
      return cluster_.links.size();
    });
  }

  // The index of what `add` appended when `key` was first seen; `add` returns the new size.
  template <typename Add>
  static int once(std::map<std::string, int>& seen, const std::string& key, const Add& add) {
    const auto known = seen.find(key);
    if (known != seen.end()) return known->second;
    return seen[key] = static_cast<int>(add()) - 1;
  }

  const Catalog& catalog_;
  std::vector<std::string>* assumptions_;
  Cluster cluster_;
  std::map<std::string, int> devices_seen_;
  std::map<std::string, int> links_seen_;
  std::int64_t nodes_ = 0;
  std::int64_t devices_ = 0;
  std::optional<std::string> node_without_network_;
};

}  // namespace

std::optional<ClusterShape> cluster_shape(const std::string& text) {
  ClusterShape shape;
  int end = 0;
  const bool matches =
      std::sscanf(text.c_str(), "%18lld%*1[xX]%18lld%n", &shape.nodes, &shape.devices, &end) == 2 &&
      static_cast<std::size_t>(end) == text.size();
  return matches ? std::optional(shape) : std::nullopt;
}

int worker_count(const Cluster& cluster) {
  int count = 0;
  for (const Node& node : cluster.nodes) count += node.devices;
  return count;
}

std::vector<int> device_counts(const Cluster& cluster) {
  std::vector<int> counts(cluster.devices.size(), 0);
  for (const Node& node : cluster.nodes)
    counts[static_cast<std::size_t>(node.device)] += node.devices;
  return counts;
}

Cluster parse_cluster(std::string_view text, const std::string& where, const Catalog& catalog,
                      std::vector<std::string>* assumptions) {
  const Json root = parse_json(text, where);
  JsonFields fields(root, where);
  const Json& entries = fields.require("nodes");
  const Json* network = fields.find("network");
  fields.finish();
  if (!entries.is_array()) throw Error(ErrorKind::BadInput, where + ": 'nodes' must be a list");
  Builder builder(catalog, assumptions);
  int index = 0;
  for (const Json& entry : entries) {
    builder.add_nodes(entry, network, where + ": nodes[" + std::to_string(index++) + "]");
  }
  return std::move(builder).finish(where);
}

}  // namespace foretrain::hw
