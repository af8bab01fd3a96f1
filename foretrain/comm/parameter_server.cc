// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/parameter_server.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "foretrain/comm/detail/transfer.h"

namespace foretrain::comm {
namespace {

double copies(const PsHost& host, PsMode mode) {
  return mode == PsMode::Asynchronous ? host.workers : std::min(host.workers, 1);
}

double servers_of(std::span<const PsHost> hosts) {
  int servers = 0;
  for (const PsHost& host : hosts) servers += host.servers;
  assert(servers > 0);
  return servers;
}

// Time of the busiest direction of the slowest host; request and answer where anything moves.
Seconds time_of(const PsTraffic& traffic, std::span<const PsHost> hosts) {
  Seconds latency{0};
  Seconds busiest{0};
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const double bytes = std::max(traffic.host_in_bytes[i], traffic.host_out_bytes[i]);
    if (bytes == 0) continue;
    latency = std::max(latency, hosts[i].network.latency);
    busiest = std::max(busiest, transfer_time(bytes, hosts[i].network));
  }
  return 2 * latency + busiest;
}

}  // namespace

PsTraffic ps_pull_traffic(double bytes, std::span<const PsHost> hosts, PsMode mode) {
  const double servers = servers_of(hosts);
  double all_copies = 0;
  for (const PsHost& host : hosts) all_copies += copies(host, mode);
  assert(all_copies > 0);
  PsTraffic traffic;
  for (const PsHost& host : hosts) {
    const double own = copies(host, mode);
    const double in = own * bytes * (servers - host.servers) / servers;
    const double out = host.servers * (bytes / servers) * (all_copies - own);
    traffic.host_in_bytes.push_back(in);
    traffic.host_out_bytes.push_back(out);
    traffic.largest_in_bytes = std::max(traffic.largest_in_bytes, in);
    traffic.largest_out_bytes = std::max(traffic.largest_out_bytes, out);
  }
  return traffic;
}

PsTraffic ps_push_traffic(double bytes, std::span<const PsHost> hosts, PsMode mode) {
  PsTraffic traffic = ps_pull_traffic(bytes, hosts, mode);
  std::swap(traffic.host_in_bytes, traffic.host_out_bytes);
  std::swap(traffic.largest_in_bytes, traffic.largest_out_bytes);
  return traffic;
}

Seconds ps_exchange(double bytes, std::span<const PsHost> hosts, PsMode mode) {
  return time_of(ps_pull_traffic(bytes, hosts, mode), hosts);
}

Seconds ps_exchange(double bytes, int hosts, int servers, const Link& link) {
  assert(hosts >= 1 && servers >= 1 && servers <= hosts);
  if (hosts == 1) return Seconds{0};
  const double share = std::max(hosts - 1.0, servers - 1.0) / servers;
  return 2 * link.latency + transfer_time(share * bytes, link);
}

Seconds ps_single_pull(double bytes, std::span<const PsHost> hosts, std::size_t host) {
  const double servers = servers_of(hosts);
  PsTraffic traffic;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const double held = bytes * hosts[i].servers / servers;
    traffic.host_in_bytes.push_back(i == host ? bytes - held : 0);
    traffic.host_out_bytes.push_back(i == host ? 0 : held);
  }
  return time_of(traffic, hosts);
}

}  // namespace foretrain::comm
