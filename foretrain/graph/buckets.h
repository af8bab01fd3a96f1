// SPDX-License-Identifier: Apache-2.0
// How data parallelism puts gradients together before it sends them.
#pragma once

#include <span>
#include <vector>

#include "foretrain/graph/graph.h"

namespace foretrain::graph {

// A bucket is closed when it holds at least that many bytes.
struct BucketSizes {
  double first_bytes = 0;
  double bytes = 0;  // of the others
};

// Fills buckets with things of these sizes, in order, none divided: the end of each bucket.
std::vector<std::size_t> bucket_ends(std::span<const double> bytes, const BucketSizes& sizes);

// Gradients that travel together, in the order in which they are complete.
struct Bucket {
  std::vector<TensorId> gradients;
  NodeId ready = 0;  // the node after which all of it is there
};

// The buckets of a step. Shapes of parameters are numbers, so no symbol needs a value.
std::vector<Bucket> make_buckets(const Graph& step, const BucketSizes& sizes);

}  // namespace foretrain::graph
