// SPDX-License-Identifier: Apache-2.0
#include "foretrain/request/detail/find_offload.h"

#include <algorithm>

#include "foretrain/base/error.h"
#include "foretrain/base/humanise.h"

namespace foretrain {
namespace {

void check_offload(const Request& request, const hw::Cluster& cluster) {
  const auto refuse = [](bool wrong, const char* why) {
    if (wrong) throw Error(ErrorKind::BadInput, std::string("'offload' ") + why);
  };
  refuse(request.mode == Mode::Inference,
         "is for training, inference keeps neither states nor activations; leave it out");
  refuse(std::any_of(cluster.devices.begin(), cluster.devices.end(), hw::is_cpu),
         "needs a device with memory of its own, a CPU's is its host's; leave it out");
  refuse(request.strategy.kind == Parallel::ParameterServer,
         "is not for parameter servers, which keep the states already; use another strategy");
  refuse(request.strategy.pipeline > 1,
         "is not for stages of a pipeline in this version; leave one of both out");
}

}  // namespace

Offload find_offload(const Request& request, const hw::Cluster& cluster,
                     const hw::Catalog& catalog) {
  Offload offload;
  if (request.strategy.offload == "none") return offload;
  check_offload(request, cluster);
  offload.what = request.strategy.offload == "optimizer" ? Offload::What::Optimizer
                                                         : Offload::What::Activations;
  const hw::AssumedHost& host = catalog.assumed_host;
  // Known of PCIe 3.0 x16; a link's own efficiency is that of collectives.
  const double share = host.pinned_bytes_per_s / hw::find_link(catalog, "pcie3-x16").bytes_per_s;
  for (const hw::Device& device : cluster.devices) {
    hw::Link link = hw::find_link(catalog, device.host_link);
    link.efficiency = share;
    const bool slower = hw::node_bytes_per_s(link) < hw::node_bytes_per_s(offload.link);
    if (offload.link.name.empty() || slower) offload.link = link;
  }
  int devices = 1;
  for (const hw::Node& node : cluster.nodes) devices = std::max(devices, node.devices);
  offload.memory_bytes_per_s = host.memory_bytes_per_s / devices;
  offload.least_bytes = host.least_offload_bytes;
  offload.assumption = "the host is reached over " + offload.link.name + " by each device, " +
                       format_rate(hw::node_bytes_per_s(offload.link)) + " each way";
  if (offload.what == Offload::What::Optimizer) {
    offload.assumption += "; it updates parameters at " + format_rate(host.memory_bytes_per_s) +
                          ", which the devices of a node share";
  }
  return offload;
}

}  // namespace foretrain
