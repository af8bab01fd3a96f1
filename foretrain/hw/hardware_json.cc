// SPDX-License-Identifier: Apache-2.0
#include "foretrain/hw/hardware_json.h"

#include "foretrain/base/json.h"

namespace foretrain::hw {
namespace {

OrderedJson or_null(const std::optional<double>& value) {
  return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

OrderedJson sources_json(const std::vector<Source>& sources) {
  OrderedJson object = OrderedJson::object();
  for (const Source& source : sources) {
    if (!source.text.empty()) object[source.field] = source.text;
  }
  return object;
}

// The fields that a user's own device file would have.
OrderedJson to_json(const DeviceEntry& entry) {
  const Device& device = entry.device;
  return {{"name", device.name},
          {"aliases", entry.aliases},
          {"vendor", device.vendor},
          {"architecture", device.architecture},
          {"fp32_flops_per_s", device.fp32_flops_per_s},
          {"fp64_flops_per_s", or_null(device.fp64_flops_per_s)},
          {"fp16_flops_per_s", or_null(device.fp16_flops_per_s)},
          {"tensor_fp16_flops_per_s", or_null(device.tensor_fp16_flops_per_s)},
          {"tensor_bf16_flops_per_s", or_null(device.tensor_bf16_flops_per_s)},
          {"tensor_tf32_flops_per_s", or_null(device.tensor_tf32_flops_per_s)},
          {"tensor_fp8_flops_per_s", or_null(device.tensor_fp8_flops_per_s)},
          {"tensor_fp32_flops_per_s", or_null(device.tensor_fp32_flops_per_s)},
          {"tensor_fp64_flops_per_s", or_null(device.tensor_fp64_flops_per_s)},
          {"sustained_gemm_flops_per_s", or_null(device.sustained_gemm_flops_per_s)},
          {"boost_clock_hz", or_null(device.boost_clock_hz)},
          {"memory_bytes", device.memory_bytes},
          {"memory_bytes_per_s", device.memory_bytes_per_s},
          {"memory_type", device.memory_type},
          {"ecc_bytes", or_null(device.ecc_bytes)},
          {"sms", device.sms},
          {"fp32_cores_per_sm", device.fp32_cores_per_sm},
          {"l2_bytes", device.l2_bytes},
          {"tdp_w", device.tdp_w},
          {"process", device.process},
          {"intra_node", device.intra_node},
          {"host_link", device.host_link},
          {"pcie_peer_access", device.pcie_peer_access},
          {"context_bytes", or_null(device.context_bytes)},
          {"price_per_hour_usd", or_null(device.price_per_hour_usd)},
          {"sources", sources_json(entry.sources)}};
}

OrderedJson to_json(const LinkEntry& entry) {
  const Link& link = entry.link;
  return {{"name", link.name},
          {"aliases", entry.aliases},
          {"joins", entry.network ? "nodes" : "devices"},
          {"bytes_per_s", link.bytes_per_s},
          {"latency_s", link.latency.count()},
          {"efficiency", link.efficiency},
          {"nics", link.nics},
          {"flow_cap_bytes_per_s", or_null(link.flow_cap_bytes_per_s)},
          {"rdma", link.rdma},
          {"switched", link.switched},
          {"peer_access", link.peer_access},
          {"ramp_s", link.ramp.count()},
          {"sources", sources_json(entry.sources)}};
}

OrderedJson to_json(const Instance& instance) {
  return {{"provider", instance.provider},
          {"name", instance.name},
          {"region", instance.region},
          {"device", instance.device},
          {"devices", instance.devices},
          {"intra_node", instance.intra_node.name},
          {"network", instance.network.name},
          {"network_bytes_per_s", node_bytes_per_s(instance.network)},
          {"price_per_hour_usd", instance.price_per_hour_usd},
          {"price_per_device_hour_usd", price_per_device_hour_usd(instance)},
          {"price_date", instance.price_date},
          {"price_source", instance.price_source},
          {"machine_source", instance.machine_source}};
}

template <typename T>
std::string array_json(const std::vector<const T*>& entries) {
  OrderedJson list = OrderedJson::array();
  for (const T* entry : entries) list.push_back(to_json(*entry));
  return json_text(list);
}

}  // namespace

std::string device_json(const DeviceEntry& entry) { return json_text(to_json(entry)); }

std::string devices_json(const std::vector<const DeviceEntry*>& entries) {
  return array_json(entries);
}

std::string networks_json(const std::vector<const LinkEntry*>& entries) {
  return array_json(entries);
}

std::string clouds_json(const std::vector<const Instance*>& instances) {
  return array_json(instances);
}

}  // namespace foretrain::hw
