// SPDX-License-Identifier: Apache-2.0
#include "foretrain/hw/detail/cloud_file.h"

#include <cstdint>
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

// {"value": ..., "source": "..."}: what one flow was seen to reach.
double flow_cap(const Json& json, const std::string& where) {
  JsonFields fields(json, where + ": 'flow_cap_bytes_per_s'");
  const double cap = fields.required_number("value");
  fields.required_text("source");
  fields.finish();
  return within(cap, 1e3, 1e13, fields, "value");
}

Instance read_instance(const Json& json, const Instance& common, const std::string& where,
                       const Catalog& catalog) {
  JsonFields fields(json, where);
  Instance instance = common;
  instance.name = fields.required_text("name");
  const Device device = find_device(catalog, fields.required_text("device"), nullptr);
  instance.device = device.name;
  const std::int64_t devices = fields.integer("devices").value_or(1);
  instance.devices =
      static_cast<int>(within(static_cast<double>(devices), 1, 64, fields, "devices"));
  instance.intra_node =
      find_intra_node(catalog, fields.required_text("intra_node"), device, nullptr);
  instance.network = find_link(catalog, fields.required_text("network"));
  if (const Json* cap = fields.find("flow_cap_bytes_per_s")) {
    instance.network.flow_cap_bytes_per_s = flow_cap(*cap, where);
  }
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
  Instance common;
  common.provider = fields.required_text("provider");
  common.region = fields.required_text("region");
  common.price_date = fields.required_text("price_date");
  common.price_source = fields.required_text("price_source");
  common.machine_source = fields.required_text("machine_source");
  fields.ignore("note");
  const Json& list = fields.require("instances");
  fields.finish();
  if (!list.is_array()) {
    throw Error(ErrorKind::BadInput, where + ": 'instances' must be a list");
  }
  std::vector<Instance> instances;
  for (const Json& json : list) {
    const std::string place = where + ": instance " + std::to_string(instances.size() + 1);
    instances.push_back(read_instance(json, common, place, catalog));
  }
  return instances;
}

}  // namespace foretrain::hw
