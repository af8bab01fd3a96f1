// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "foretrain/base/seconds.h"
#include "foretrain/comm/link.h"

namespace foretrain::comm {

// A machine that holds workers, parameter servers or both. The rate of `network` is what long
// transfers reach in each direction, as everywhere in `comm`.
struct PsHost {
  int workers = 0;
  int servers = 0;
  Link network;
};

// Synchronous: the workers of a host step together and share one pull and one push.
// Asynchronous: every worker pulls and pushes for itself, when it is ready.
enum class PsMode { Synchronous, Asynchronous };

// Bytes that cross each host's network when every worker takes one step. What stays within a host
// does not count.
struct PsTraffic {
  std::vector<double> host_in_bytes;
  std::vector<double> host_out_bytes;
  double largest_in_bytes = 0;
  double largest_out_bytes = 0;
};

// Traffic of the pull, which brings all `bytes` of parameters to the workers. Each of the s
// servers in all holds S/s. With c copies per host with workers (1, or its workers when
// asynchronous), host h
//
//   receives  c_h S (s - s_h) / s
//   sends     s_h (S/s) * (sum of c over the other hosts)
//
// Asserts that there are servers and workers.
PsTraffic ps_pull_traffic(double bytes, std::span<const PsHost> hosts, PsMode mode);

// Traffic of the push of gradients: the mirror of the pull.
PsTraffic ps_push_traffic(double bytes, std::span<const PsHost> hosts, PsMode mode);

// Time of the pull of all workers at once: request and answer, then the busiest direction of the
// slowest host. When synchronous this is what an exchange adds to a step: the push hides behind
// compute. When asynchronous no step of a worker can take less on average.
// Source: fit of TensorFlow's parameter servers, where a push and a pull per device instead of per
// host is far off; docs/models/parameter_servers.md.
Seconds ps_exchange(double bytes, std::span<const PsHost> hosts, PsMode mode);

// The same in closed form for equal hosts that all have workers, `servers` of which (at most all)
// hold a server:
//
//   t = 2 a + max((N-1)/s, (s-1)/s) S / b     a: latency, b: bytes per second
//
// A step takes the time of a single host plus t. One host is free.
Seconds ps_exchange(double bytes, int hosts, int servers, const Link& link);

// Time of one pull by one worker on host `host` while nobody else communicates.
Seconds ps_single_pull(double bytes, std::span<const PsHost> hosts, std::size_t host);

}  // namespace foretrain::comm
