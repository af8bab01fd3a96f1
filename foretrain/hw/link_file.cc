// SPDX-License-Identifier: Apache-2.0
#include "foretrain/hw/detail/link_file.h"

#include <array>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::hw {
namespace {

constexpr double kLongestLatency = 10;  // seconds
constexpr auto kFields = std::to_array<std::string_view>(
    {"name", "bytes_per_s", "latency_s", "nics", "flow_cap_bytes_per_s", "rdma", "efficiency",
     "ramp_s", "switched", "peer_access"});

// Says what a link with RDMA cannot have, before anyone wonders why it has no effect.
void check_cap(const FactSheet& sheet, const Link& link) {
  if (link.rdma && link.flow_cap_bytes_per_s) {
    throw Error(ErrorKind::BadInput,
                sheet.where +
                    ": 'flow_cap_bytes_per_s' is a property of TCP; leave it out or set "
                    "'rdma' to false");
  }
}

}  // namespace

Link link_of(const FactSheet& sheet, std::vector<std::string>* assumptions) {
  check_fields(sheet, kFields);
  Link link;
  link.name = text(sheet, "name").value_or("own");
  link.bytes_per_s = required_number(sheet, "bytes_per_s", kLeastBytesPerS, kMostBytesPerS);
  link.nics = integer(sheet, "nics", 1, kMostNics).value_or(1);
  link.flow_cap_bytes_per_s =
      number(sheet, "flow_cap_bytes_per_s", kLeastBytesPerS, kMostBytesPerS);
  link.rdma = boolean(sheet, "rdma").value_or(!link.flow_cap_bytes_per_s);
  check_cap(sheet, link);
  link.switched = boolean(sheet, "switched").value_or(true);
  link.peer_access = boolean(sheet, "peer_access").value_or(true);
  link.ramp = Seconds{number(sheet, "ramp_s", 0, kLongestLatency).value_or(0)};

  const std::optional<double> latency = number(sheet, "latency_s", 0, kLongestLatency);
  link.latency = latency ? Seconds{*latency} : link.rdma ? kRdmaLatency : kTcpLatency;
  const std::optional<double> efficiency = number(sheet, "efficiency", 1e-3, 1);
  link.efficiency = efficiency.value_or(kUsualEfficiency);
  std::string assumed;
  if (!latency) assumed += link.rdma ? " latency of 7 us (RDMA)" : " latency of 27 us (TCP)";
  if (!efficiency) {
    assumed += std::string(assumed.empty() ? "" : ",") + " long transfers reach 0.93 of the rate";
  }
  if (assumptions != nullptr && !assumed.empty()) {
    assumptions->push_back("link '" + printable(link.name) + "': assumed" + assumed);
  }
  return link;
}

Link parse_link(std::string_view text, const std::string& where,
                std::vector<std::string>* assumptions) {
  return link_of(read_facts(text, where), assumptions);
}

}  // namespace foretrain::hw
