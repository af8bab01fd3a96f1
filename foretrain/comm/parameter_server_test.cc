// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/parameter_server.h"

#include <gtest/gtest.h>

#include <limits>

namespace foretrain::comm {
namespace {

const hw::Link kLink{.latency = Seconds{1e-3}, .bytes_per_s = 1e9};

PsHost host(int workers, int servers) {
  return {.workers = workers, .servers = servers, .network = kLink};
}

// N hosts with a worker each, the first s of them with a server.
std::vector<PsHost> colocated(int hosts, int servers) {
  std::vector<PsHost> result(static_cast<std::size_t>(hosts), host(1, 0));
  for (int i = 0; i < servers; ++i) result[static_cast<std::size_t>(i)].servers = 1;
  return result;
}

// One server apart, two workers: the server sends S twice, each worker receives S.
TEST(PsTraffic, OneServerApartFromTwoWorkers) {
  const std::vector<PsHost> hosts{host(0, 1), host(1, 0), host(1, 0)};
  const PsTraffic pull = ps_pull_traffic(6e6, hosts, PsMode::Synchronous);
  EXPECT_EQ(pull.host_out_bytes, (std::vector<double>{12e6, 0, 0}));
  EXPECT_EQ(pull.host_in_bytes, (std::vector<double>{0, 6e6, 6e6}));
  EXPECT_EQ(pull.largest_out_bytes, 12e6);
  EXPECT_EQ(pull.largest_in_bytes, 6e6);
  const PsTraffic push = ps_push_traffic(6e6, hosts, PsMode::Synchronous);
  EXPECT_EQ(push.host_in_bytes, pull.host_out_bytes);
  EXPECT_EQ(push.host_out_bytes, pull.host_in_bytes);
  EXPECT_EQ(push.largest_in_bytes, 12e6);
}

// Host 0: 2 servers, 1 worker; host 1: 1 server, 3 workers; host 2: 4 workers. S = 30, s = 3.
// Synchronous: in 30 * 1/3 = 10, 30 * 2/3 = 20, 30; out 2 * 10 * 2 = 40, 1 * 10 * 2 = 20, 0.
// Asynchronous: in 1 * 10, 3 * 20, 4 * 30; out 2 * 10 * (3 + 4) = 140, 10 * (1 + 4) = 50, 0.
TEST(PsTraffic, AnyPlacementMatchesHandCalculation) {
  const std::vector<PsHost> hosts{host(1, 2), host(3, 1), host(4, 0)};
  const PsTraffic together = ps_pull_traffic(30, hosts, PsMode::Synchronous);
  EXPECT_EQ(together.host_in_bytes, (std::vector<double>{10, 20, 30}));
  EXPECT_EQ(together.host_out_bytes, (std::vector<double>{40, 20, 0}));
  const PsTraffic alone = ps_pull_traffic(30, hosts, PsMode::Asynchronous);
  EXPECT_EQ(alone.host_in_bytes, (std::vector<double>{10, 60, 120}));
  EXPECT_EQ(alone.host_out_bytes, (std::vector<double>{140, 50, 0}));
}

TEST(PsTrafficLaws, WhatIsSentIsReceived) {
  for (const PsMode mode : {PsMode::Synchronous, PsMode::Asynchronous}) {
    for (int servers = 1; servers < 6; ++servers) {
      const std::vector<PsHost> hosts{host(2, servers), host(1, 1), host(0, 3), host(5, 0)};
      const PsTraffic pull = ps_pull_traffic(1e6, hosts, mode);
      double balance = 0;
      for (const double bytes : pull.host_in_bytes) balance += bytes;
      for (const double bytes : pull.host_out_bytes) balance -= bytes;
      EXPECT_NEAR(balance, 0, 1e-6);
    }
  }
}

// 4 hosts, 2 servers, 1 GB at 1 GB/s: max(3/2, 1/2) = 1.5 s, plus 2 ms of latency.
TEST(PsExchange, MatchesHandCalculation) {
  EXPECT_DOUBLE_EQ(ps_exchange(1e9, 4, 2, kLink).count(), 1.502);
}

TEST(PsExchange, OneHostIsFree) {
  EXPECT_EQ(ps_exchange(1e9, 1, 1, kLink), Seconds{0});
  EXPECT_EQ(ps_exchange(1e9, std::vector<PsHost>{host(8, 2)}, PsMode::Synchronous), Seconds{0});
  EXPECT_EQ(ps_single_pull(1e9, std::vector<PsHost>{host(8, 2)}, 0), Seconds{0});
}

TEST(PsExchange, InfiniteBandwidthLeavesRequestAndAnswer) {
  const hw::Link link{.latency = Seconds{1e-3},
                      .bytes_per_s = std::numeric_limits<double>::infinity()};
  EXPECT_EQ(ps_exchange(1e9, 4, 2, link), Seconds{2e-3});
}

TEST(PsExchangeLaws, ClosedFormFollowsFromTheTraffic) {
  for (int hosts = 1; hosts <= 16; ++hosts) {
    for (int servers = 1; servers <= hosts; ++servers) {
      EXPECT_DOUBLE_EQ(ps_exchange(1e9, hosts, servers, kLink).count(),
                       ps_exchange(1e9, colocated(hosts, servers), PsMode::Synchronous).count());
    }
  }
}

TEST(PsExchangeLaws, MoreServersNeverSlowerAndMoreHostsNeverFaster) {
  for (int hosts = 2; hosts <= 16; ++hosts) {
    for (int servers = 1; servers < hosts; ++servers) {
      EXPECT_LE(ps_exchange(1e9, hosts, servers + 1, kLink),
                ps_exchange(1e9, hosts, servers, kLink));
      EXPECT_GE(ps_exchange(1e9, hosts + 1, servers, kLink),
                ps_exchange(1e9, hosts, servers, kLink));
    }
  }
}

// The server's 10 Gb/s carries 2 GB in 1.6 s; the worker with 1 Gb/s needs 8 s for its 1 GB.
TEST(PsExchange, TheSlowestHostDecides) {
  std::vector<PsHost> hosts{host(0, 1), host(1, 0), host(1, 0)};
  for (PsHost& each : hosts) each.network.latency = Seconds{0};
  hosts[0].network.bytes_per_s = 1.25e9;
  hosts[1].network.bytes_per_s = 1.25e9;
  hosts[2].network.bytes_per_s = 0.125e9;
  EXPECT_DOUBLE_EQ(ps_exchange(1e9, hosts, PsMode::Synchronous).count(), 8);
  hosts[2].network.bytes_per_s = 1.25e9;
  EXPECT_DOUBLE_EQ(ps_exchange(1e9, hosts, PsMode::Synchronous).count(), 1.6);
}

// Two servers apart with half each: the worker's own 1 GB/s decides, 1 s, plus 2 ms. From a single
// server of half that rate: 2 s.
TEST(PsLonePull, TheNarrowestPlaceDecides) {
  std::vector<PsHost> hosts{host(0, 1), host(0, 1), host(1, 0), host(1, 0)};
  EXPECT_DOUBLE_EQ(ps_single_pull(1e9, hosts, 2).count(), 1.002);
  hosts = {host(0, 1), host(1, 0)};
  hosts[0].network.bytes_per_s = 0.5e9;
  EXPECT_DOUBLE_EQ(ps_single_pull(1e9, hosts, 1).count(), 2.002);
}

TEST(PsLonePullLaws, IsNeverLongerThanAllAtOnce) {
  const std::vector<PsHost> hosts{host(1, 2), host(3, 1), host(4, 0)};
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    for (const PsMode mode : {PsMode::Synchronous, PsMode::Asynchronous}) {
      EXPECT_LE(ps_single_pull(1e9, hosts, i), ps_exchange(1e9, hosts, mode));
    }
  }
}

}  // namespace
}  // namespace foretrain::comm
