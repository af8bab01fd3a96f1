// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fleet/detail/published_cluster.h"

#include <array>
#include <map>
#include <sstream>

#include "foretrain/base/csv.h"
#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/sched/job_trace_row.h"

namespace foretrain::fleet {
namespace {

constexpr const char* kTiresiasDevice = "v100-sxm2-16gb";
constexpr const char* kNetwork = "25gbe";

// Two types of Alibaba are not disclosed.
struct Type {
  std::string_view theirs;
  const char* ours;
};
constexpr std::array kTypes = {
    Type{"P100", "p100-pcie-16gb"},    Type{"T4", "t4"},   Type{"V100M16", "v100-sxm2-16gb"},
    Type{"V100M32", "v100-sxm2-32gb"}, Type{"A10", "a10"}, Type{"G2", "a10"},
    Type{"G3", "a100-sxm4-80gb"}};

Json tiresias_nodes(const sched::JobTraceRow& row) {
  const int per_rack = row.devices("num_node_p_switch");
  return Json{{"count", row.number("num_switch") * per_rack},
              {"devices", row.devices("num_gpu_p_node")},
              {"device", kTiresiasDevice},
              {"nodes_per_rack", per_rack}};
}

Json alibaba_node(const sched::JobTraceRow& row) {
  for (const Type& type : kTypes) {
    if (type.theirs == row.text("model")) {
      return Json{{"devices", row.devices("gpu")}, {"device", type.ours}};
    }
  }
  throw Error(ErrorKind::BadInput,
              row.where() + ": GPU model '" + printable(row.text("model")) + "' is not known");
}

}  // namespace

std::string published_cluster(const std::string& csv, const std::string& where,
                              std::vector<std::string>& assumptions) {
  std::istringstream in(csv);
  CsvReader reader(in, where);
  std::vector<std::string> fields;
  std::map<std::string, std::size_t> columns;
  if (reader.next(fields)) {
    for (std::size_t i = 0; i < fields.size(); ++i) columns.emplace(fields[i], i);
  }
  const bool tiresias = columns.contains("num_node_p_switch");
  if (!tiresias && !(columns.contains("gpu") && columns.contains("model"))) {
    throw Error(ErrorKind::BadInput, where + ": is neither a JSON object nor a known CSV of nodes");
  }
  Json nodes = Json::array();
  while (reader.next(fields)) {
    const std::string line = where + ", line " + std::to_string(reader.line());
    if (fields.size() != columns.size()) {
      throw Error(ErrorKind::BadInput, line + ": has " + std::to_string(fields.size()) +
                                           " fields, the first line has " +
                                           std::to_string(columns.size()));
    }
    const sched::JobTraceRow row(columns, fields, line);
    nodes.push_back(tiresias ? tiresias_nodes(row) : alibaba_node(row));
  }
  assumptions.push_back(std::string("nodes are joined by ") + kNetwork);
  assumptions.push_back(tiresias ? std::string("devices are ") + kTiresiasDevice
                                 : "G2 is taken as a10 and G3 as a100-sxm4-80gb: not disclosed");
  return json_text(Json{{"nodes", nodes}, {"network", kNetwork}});
}

}  // namespace foretrain::fleet
