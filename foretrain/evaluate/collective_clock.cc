// SPDX-License-Identifier: Apache-2.0
#include "foretrain/evaluate/collective_clock.h"

#include "foretrain/comm/all_gather.h"
#include "foretrain/comm/all_reduce.h"
#include "foretrain/comm/broadcast.h"
#include "foretrain/comm/point_to_point.h"
#include "foretrain/comm/reduce_scatter.h"

namespace foretrain::evaluate {

const comm::Path& CollectiveClock::path(const measured::CollectiveCase& one) {
  const auto key = std::tuple(one.cluster, one.nodes, one.devices);
  const auto found = paths_.find(key);
  if (found != paths_.end()) return found->second;
  const hw::Cluster part =
      measured::part_of(measured::cluster_of(one), one.nodes, one.devices, catalog_);
  return paths_.emplace(key, comm::path_over(part, constants_)).first->second;
}

double CollectiveClock::predict(const measured::CollectiveCase& one) {
  const comm::Path& ranks = path(one);
  const auto time = [&](double bytes) {
    if (one.collective == measured::kAllReduce) return comm::all_reduce(bytes, ranks).time;
    if (one.collective == measured::kAllGather)
      return comm::all_gather(bytes, ranks.ranks, ranks.flat);
    if (one.collective == measured::kReduceScatter) {
      return comm::reduce_scatter(bytes, ranks.ranks, ranks.flat);
    }
    if (one.collective == measured::kBroadcast)
      return comm::broadcast(bytes, ranks.ranks, ranks.flat);
    return comm::point_to_point(bytes, ranks.pair);
  };
  const double taken = time(one.bytes).count();
  if (one.reference_bytes > 0) {
    return one.bytes / taken / (one.reference_bytes / time(one.reference_bytes).count());
  }
  if (!one.copied) return taken;
  return taken + constants_.copy_s_per_byte * one.bytes / ranks.ranks;
}

}  // namespace foretrain::evaluate
