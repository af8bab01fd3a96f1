// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/all_reduce.h"

#include "foretrain/comm/detail/hierarchical.h"
#include "foretrain/comm/detail/ring.h"
#include "foretrain/comm/detail/tree.h"

namespace foretrain::comm {
namespace {

// Two trees over the nodes; inside each node the bytes pass along a chain, up and down.
Seconds tree_over_nodes(double bytes, const Path& path) {
  Link step = path.flat;
  step.latency = path.across.latency;
  return 2.0 * (path.most_devices - 1) * path.inside.chain * path.inside.latency +
         tree_all_reduce(bytes, path.nodes, step);
}

}  // namespace

AllReduce all_reduce(double bytes, const Path& path) {
  if (path.ranks == 1) return {};
  AllReduce best{.time = ring_all_reduce(bytes, path.ranks, path.flat), .algorithm = "ring"};
  const auto consider = [&](Seconds time, std::string_view algorithm) {
    if (time < best.time) best = {.time = time, .algorithm = algorithm};
  };
  if (path.nodes > 1 && path.across.rdma) {  // over TCP a ring, as steps on many nodes show
    consider(tree_over_nodes(bytes, path), "tree");
    if (path.even && path.most_devices > 1) {
      consider(
          hierarchical_all_reduce(bytes, path.nodes, path.most_devices, path.inside, path.across),
          "hierarchical");
    }
  }
  return best;
}

}  // namespace foretrain::comm
