// SPDX-License-Identifier: Apache-2.0
// The devices and links of a request.
#include "foretrain/request/detail/find_cluster.h"

#include <algorithm>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/base/near.h"

namespace foretrain {
namespace {

constexpr int kDevicesPerNode = 8;          // of a node whose size nobody stated
constexpr const char* kNetwork = "100gbe";  // between nodes, likewise
constexpr std::uintmax_t kLargestFile = 16 << 20;

bool names_file(const std::string& text) { return text.ends_with(".json"); }

std::string read_description(const std::string& path, const Library& library) {
  if (!library.read_files) {
    throw Error(ErrorKind::BadInput, "'" + printable(path) +
                                         "': files are not read here; give the description itself "
                                         "as a JSON object");
  }
  return read_file(path, kLargestFile);
}

// The JSON text of a description, or "" where it is a name of the catalog.
std::string description(const Described& described, const Library& library) {
  if (described.json) return described.text;
  if (names_file(described.text)) return read_description(described.text, library);
  return "";
}

hw::Link find_link(const Described& described, const Library& library, const char* field,
                   std::vector<std::string>& notes) {
  const std::string text = description(described, library);
  if (text.empty()) return hw::find_link(library.catalog, described.text);
  return hw::parse_link(text, described.json ? field : "file " + printable(described.text),
                        library.catalog.assumed_link, &notes);
}

std::vector<int> find_placement(const Request& request, int per_node_of_instance,
                                std::vector<std::string>& notes) {
  if (!request.placement.empty()) return request.placement;
  int per_node = request.workers_per_node.value_or(per_node_of_instance);
  if (per_node == 0) {
    per_node = std::min(request.workers, kDevicesPerNode);
    if (request.workers > kDevicesPerNode) {
      notes.push_back("8 devices on each node (workers_per_node was not given)");
    }
  }
  std::vector<int> placement;
  for (int left = request.workers; left > 0; left -= per_node) {
    placement.push_back(std::min(left, per_node));
  }
  return placement;
}

// "4x8" is how clusters are simulated; which devices these are is not guessed.
void refuse_shape(const Described& cluster) {
  const std::optional<hw::ClusterShape> shape =
      cluster.json ? std::nullopt : hw::cluster_shape(cluster.text);
  if (!shape) return;
  throw Error(ErrorKind::BadInput,
              "cluster '" + printable(cluster.text) +
                  "' names no devices; give 'device', 'workers' and 'workers_per_node': " +
                  std::to_string(shape->devices) + ", or a cluster's file");
}

// An instance has the devices that it has.
void check_instance(const hw::Device& device, const Request& request,
                    const std::optional<hw::Instance>& instance) {
  if (!instance || !request.device || request.device->json || device.name == instance->device) {
    return;
  }
  throw Error(ErrorKind::BadInput, "device " + device.name + " is not in cloud instance " +
                                       instance->name + ", which has " + instance->device +
                                       "; leave out 'device', or name another instance");
}

// What nodes with such devices usually have between them.
hw::Link usual_network(const hw::Link& intra_node, bool used, const Library& library,
                       std::vector<std::string>& notes) {
  const std::string usual = hw::usual_network(library.catalog, intra_node);
  const std::string name = usual.empty() ? kNetwork : usual;
  if (used) {
    notes.push_back("nodes are joined by " + name +
                    (usual.empty() ? "" : ", usual where " + intra_node.name + " is inside them") +
                    " (network was not given)");
  }
  return hw::find_link(library.catalog, name);
}

hw::Cluster homogeneous_cluster(const Request& request, const Library& library,
                                const std::optional<hw::Instance>& instance,
                                std::vector<std::string>& notes) {
  hw::Cluster cluster;
  std::optional<Described> device = request.device;
  if (!device && instance) device = Described{instance->device, false};
  if (!device) {
    throw Error(ErrorKind::BadInput,
                "'device' is required: a name (foretrain devices), a datasheet as JSON, or a file; "
                "or give 'cluster' or 'cloud'");
  }
  cluster.devices.push_back(find_device(*device, library, "device", notes));
  check_instance(cluster.devices.front(), request, instance);
  const int per_node = instance ? instance->devices : 0;
  const std::vector<int> placement = find_placement(request, per_node, notes);

  if (request.intra_node) {
    const std::string text = description(*request.intra_node, library);
    cluster.links.push_back(text.empty()
                                ? hw::find_intra_node(library.catalog, request.intra_node->text,
                                                      cluster.devices[0], &notes)
                                : find_link(*request.intra_node, library, "intra_node", notes));
  } else if (instance) {
    cluster.links.push_back(instance->intra_node);
  } else {
    const std::string& name = cluster.devices[0].intra_node;
    cluster.links.push_back(
        hw::find_intra_node(library.catalog, name, cluster.devices[0], nullptr));
    const bool shared_node =
        std::any_of(placement.begin(), placement.end(), [](int devices) { return devices > 1; });
    if (shared_node) notes.push_back("devices of a node are joined by " + cluster.links[0].name);
  }
  if (request.network) {
    cluster.links.push_back(find_link(*request.network, library, "network", notes));
  } else if (instance) {
    cluster.links.push_back(instance->network);
  } else {
    cluster.links.push_back(usual_network(cluster.links[0], placement.size() > 1, library, notes));
  }
  for (const int devices : placement) cluster.nodes.push_back({0, devices, 0, 1});
  return cluster;
}

}  // namespace

hw::Device find_device(const Described& described, const Library& library, const char* field,
                       std::vector<std::string>& notes) {
  const std::string text = description(described, library);
  if (text.empty()) return hw::find_device(library.catalog, described.text, &notes);
  return hw::parse_device(text, described.json ? field : "file " + printable(described.text),
                          &notes);
}

hw::Cluster find_cluster(const Request& request, const Library& library,
                         const std::optional<hw::Instance>& instance,
                         std::vector<std::string>& assumptions) {
  if (!request.cluster) return homogeneous_cluster(request, library, instance, assumptions);
  refuse_shape(*request.cluster);
  const std::string where =
      request.cluster->json ? "cluster" : "file " + printable(request.cluster->text);
  const std::string text = request.cluster->json ? request.cluster->text
                                                 : read_description(request.cluster->text, library);
  return hw::parse_cluster(text, where, library.catalog, &assumptions);
}

}  // namespace foretrain
