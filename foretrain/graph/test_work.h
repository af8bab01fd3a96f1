// SPDX-License-Identifier: Apache-2.0
// For tests: what a whole graph asks of a device.
#pragma once

#include "foretrain/graph/op.h"

namespace foretrain::graph {

// The work of all nodes; `batch` is the graph's one symbol.
inline Work total_work(const Graph& graph, std::int64_t batch) {
  const Bound bound = bind(graph, {{"batch", batch}});
  Work sum;
  for (const Node& node : graph.nodes) {
    const Work one = work({bound, node});
    sum.flops += one.flops;
    sum.read_bytes += one.read_bytes;
    sum.written_bytes += one.written_bytes;
  }
  return sum;
}

}  // namespace foretrain::graph
