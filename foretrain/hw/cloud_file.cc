// SPDX-License-Identifier: Apache-2.0
#include "foretrain/hw/detail/cloud_file.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"

namespace foretrain::hw {
namespace {

double within(double value, double low, double high, const JsonFields& fields, const char* key) {
  if (value >= low && value <= high) return value;
  throw Error(ErrorKind::BadInput, fields.where() + ": '" + key + "' is out of range");
}

// {"value": ..., "source": "..."} within low..high.
double sourced(const Json& json, const char* field, double low, double high,
               const std::string& where) {
  JsonFields fields(json, where + ": '" + field + "'");
  const double value = fields.required_number("value");
  fields.required_text("source");
  fields.finish();
  return within(value, low, high, fields, "value");
}

// What one TCP flow reaches and how long a message takes between machines of the provider.
struct Sockets {
  std::optional<double> flow_cap_bytes_per_s;
  std::optional<double> latency_s;
};

Sockets read_sockets(JsonFields& fields, const std::string& where) {
  Sockets sockets;
  if (const Json* cap = fields.find("flow_cap_bytes_per_s")) {
    sockets.flow_cap_bytes_per_s = sourced(*cap, "flow_cap_bytes_per_s", 1e3, 1e13, where);
  }
  if (const Json* latency = fields.find("tcp_latency_s")) {
    sockets.latency_s = sourced(*latency, "tcp_latency_s", 0, 1, where);
  }
  return sockets;
}

// RDMA passes by both.
void limit(const Sockets& sockets, Link& network) {
  if (network.rdma) return;
  if (sockets.flow_cap_bytes_per_s) network.flow_cap_bytes_per_s = sockets.flow_cap_bytes_per_s;
  if (sockets.latency_s) network.latency = Seconds{*sockets.latency_s};
}

// The speed of each CPU that hosts of the provider have.
using Hosts = std::map<std::string, double, std::less<>>;

Hosts read_hosts(const Json& json, const std::string& where) {
  if (!json.is_object()) throw Error(ErrorKind::BadInput, where + ": 'hosts' must be an object");
  Hosts hosts;
  for (const auto& [cpu, speed] : json.items()) {
    hosts[cpu] = sourced(speed, "hosts", 0.05, 20, where);
  }
  return hosts;
}

// What instances of a provider share.
struct Provider {
  Instance common;
  Sockets sockets;
  Hosts hosts;
};

void find_host(JsonFields& fields, const Hosts& hosts, Instance& instance) {
  const auto cpu = fields.text("cpu");
  if (!cpu) return;
  const auto known = hosts.find(*cpu);
  if (known == hosts.end()) {
    throw Error(ErrorKind::BadInput,
                fields.where() + ": 'cpu' " + printable(*cpu) + " is not among the hosts");
  }
  instance.cpu = *cpu;
  instance.host_speed = known->second;
}

Instance read_instance(const Json& json, const Provider& provider, const std::string& where,
                       const Catalog& catalog) {
  JsonFields fields(json, where);
  Instance instance = provider.common;
  instance.name = fields.required_text("name");
  const Device device = find_device(catalog, fields.required_text("device"), nullptr);
  instance.device = device.name;
  const std::int64_t devices = fields.integer("devices").value_or(1);
  instance.devices =
      static_cast<int>(within(static_cast<double>(devices), 1, 64, fields, "devices"));
  instance.intra_node =
      find_intra_node(catalog, fields.required_text("intra_node"), device, nullptr);
  instance.network = find_link(catalog, fields.required_text("network"));
  limit(provider.sockets, instance.network);
  limit(read_sockets(fields, where), instance.network);
  find_host(fields, provider.hosts, instance);
  instance.price_per_hour_usd =
      within(fields.required_number("price_per_hour_usd"), 0.01, 1e4, fields, "price_per_hour_usd");
  fields.finish();
  return instance;
}

}  // namespace

std::vector<Instance> parse_cloud(std::string_view text, const std::string& where,
                                  const Catalog& catalog) {
  const Json root = parse_json(text, where);
  JsonFields fields(root, where);
  Provider provider;
  Instance& common = provider.common;
  common.provider = fields.required_text("provider");
  common.region = fields.required_text("region");
  common.price_date = fields.required_text("price_date");
  common.price_source = fields.required_text("price_source");
  common.machine_source = fields.required_text("machine_source");
  fields.ignore("note");
  provider.sockets = read_sockets(fields, where);
  if (const Json* hosts = fields.find("hosts")) provider.hosts = read_hosts(*hosts, where);
  const Json& list = fields.require("instances");
  fields.finish();
  if (!list.is_array()) {
    throw Error(ErrorKind::BadInput, where + ": 'instances' must be a list");
  }
  std::vector<Instance> instances;
  for (const Json& json : list) {
    const std::string place = where + ": instance " + std::to_string(instances.size() + 1);
    instances.push_back(read_instance(json, provider, place, catalog));
  }
  return instances;
}

}  // namespace foretrain::hw
