// SPDX-License-Identifier: Apache-2.0
#include "foretrain/hw/detail/link_file.h"

#include <array>

#include "foretrain/base/error.h"
#include "foretrain/base/format.h"
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

Link link_of(const FactSheet& sheet, const AssumedLink& assumed,
             std::vector<std::string>* assumptions) {
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
  link.latency = latency     ? Seconds{*latency}
                 : link.rdma ? assumed.rdma_latency
                             : assumed.tcp_latency;
  const std::optional<double> efficiency = number(sheet, "efficiency", 1e-3, 1);
  link.efficiency = efficiency.value_or(assumed.efficiency);
  std::string added;
  if (!latency) {
    added =
        format(" latency of %g us (%s)", 1e6 * link.latency.count(), link.rdma ? "RDMA" : "TCP");
  }
  if (!efficiency) {
    added +=
        format("%s long transfers reach %g of the rate", added.empty() ? "" : ",", link.efficiency);
  }
  if (assumptions != nullptr && !added.empty()) {
    assumptions->push_back("link '" + printable(link.name) + "': assumed" + added);
  }
  return link;
}

AssumedLink assumed_link_of(const FactSheet& sheet) {
  static constexpr auto kAssumed =
      std::to_array<std::string_view>({"name", "efficiency", "tcp_latency_s", "rdma_latency_s"});
  check_fields(sheet, kAssumed);
  return {.efficiency = required_number(sheet, "efficiency", 1e-3, 1),
          .tcp_latency = Seconds{required_number(sheet, "tcp_latency_s", 0, kLongestLatency)},
          .rdma_latency = Seconds{required_number(sheet, "rdma_latency_s", 0, kLongestLatency)}};
}

Link parse_link(std::string_view text, const std::string& where, const AssumedLink& assumed,
                std::vector<std::string>* assumptions) {
  return link_of(read_facts(text, where), assumed, assumptions);
}

}  // namespace foretrain::hw
