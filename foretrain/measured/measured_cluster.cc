// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/measured_cluster.h"

#include <span>

#include "foretrain/base/embedded.h"
#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"

namespace foretrain::measured {

extern const std::span<const EmbeddedFile> kClusterFiles;

namespace {

std::optional<int> count(JsonFields& fields, const std::string& key) {
  const std::optional<std::int64_t> value = fields.integer(key);
  if (!value) return std::nullopt;
  if (*value < 1 || *value > hw::kMostNodes) {
    throw Error(ErrorKind::BadInput, fields.where() + ": '" + key + "' is not from 1 to 100000");
  }
  return static_cast<int>(*value);
}

std::vector<Doubt> doubts(JsonFields& fields, const std::string& key) {
  std::vector<Doubt> all;
  const Json* list = fields.find(key);
  if (list == nullptr) return all;
  const std::string where = fields.where() + ": " + key;
  if (!list->is_array()) throw Error(ErrorKind::BadInput, where + " is not a list");
  for (const Json& entry : *list) {
    JsonFields one(entry, where);
    all.push_back({one.text("collective"), count(one, "nodes"), count(one, "devices"),
                   one.number("most_bytes"), one.required_text("reason")});
    one.finish();
  }
  return all;
}

// A number above 0, where there is one.
std::optional<double> positive(JsonFields& fields, const std::string& key) {
  const std::optional<double> value = fields.number(key);
  if (value && !(*value > 0)) {
    throw Error(ErrorKind::BadInput, fields.where() + ": '" + key + "' is not above 0");
  }
  return value;
}

// Where others measured is part of reading their files, like the mappings, and no knowledge of a
// prediction: what a request may replace is in Library. The catalog that names devices and links
// is passed in.
const std::vector<MeasuredCluster>& all_clusters() {
  static const std::vector<MeasuredCluster> kAll = [] {
    std::vector<MeasuredCluster> all;
    for (const EmbeddedFile& file : kClusterFiles) {
      all.push_back(parse_measured_cluster(file.text, std::string(file.name)));
    }
    return all;
  }();
  return kAll;
}

}  // namespace

MeasuredCluster parse_measured_cluster(std::string_view text, const std::string& where) {
  const Json root = parse_json(text, where);
  JsonFields fields(root, where);
  MeasuredCluster cluster;
  cluster.name = fields.required_text("name");
  cluster.device = fields.required_text("device");
  cluster.intra_node = fields.required_text("intra_node");
  cluster.network = fields.required_text("network");
  cluster.flow_cap_bytes_per_s = positive(fields, "flow_cap_bytes_per_s");
  cluster.port_bytes_per_s = positive(fields, "port_bytes_per_s");
  cluster.nic_bytes_per_s = positive(fields, "nic_bytes_per_s");
  cluster.suspect = doubts(fields, "suspect");
  cluster.broken = doubts(fields, "broken");
  fields.ignore("about");
  fields.finish();
  return cluster;
}

const MeasuredCluster& measured_cluster(std::string_view name) {
  for (const MeasuredCluster& cluster : all_clusters()) {
    if (cluster.name == name) return cluster;
  }
  throw Error(ErrorKind::NotFound,
              "unknown cluster '" + printable(name) + "'" +
                  did_you_mean(name, measured_cluster_names()) +
                  "; data/collectives/clusters/ describes those that are known");
}

std::vector<std::string> measured_cluster_names() {
  std::vector<std::string> names;
  for (const MeasuredCluster& cluster : all_clusters()) names.push_back(cluster.name);
  return names;
}

hw::Cluster part_of(const MeasuredCluster& cluster, int nodes, int devices,
                    const hw::Catalog& catalog) {
  hw::Cluster part;
  part.devices.push_back(hw::find_device(catalog, cluster.device, nullptr));
  const hw::Device& device = part.devices[0];
  part.links.push_back(cluster.intra_node.empty()
                           ? hw::find_intra_node(catalog, device.intra_node, device, nullptr)
                           : hw::find_link(catalog, cluster.intra_node));
  if (cluster.port_bytes_per_s) part.links[0].bytes_per_s = *cluster.port_bytes_per_s;
  hw::Link& network = part.links.emplace_back(hw::find_link(catalog, cluster.network));
  if (cluster.flow_cap_bytes_per_s) network.flow_cap_bytes_per_s = cluster.flow_cap_bytes_per_s;
  if (cluster.nic_bytes_per_s) network.bytes_per_s = *cluster.nic_bytes_per_s;
  const hw::Node node{.devices = devices, .intra_node = 0, .network = 1};
  part.nodes.assign(static_cast<std::size_t>(nodes), node);
  return part;
}

}  // namespace foretrain::measured
