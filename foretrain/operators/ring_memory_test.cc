// SPDX-License-Identifier: Apache-2.0
// Memory of a ring of attention, by hand.
#include <gtest/gtest.h>

#include <numeric>

#include "foretrain/graph/builder.h"
#include "foretrain/memory/lifetimes.h"
#include "foretrain/parallel/context.h"

namespace foretrain::operators {
namespace {

using graph::Dim;
using graph::TensorId;

double most(const graph::Graph& graph) {
  const graph::Bound bound = graph::bind(graph, {{"batch", 1}});
  memory::Options options;
  options.caching_allocator = false;
  const std::vector<memory::Storage> storages = memory::lifetimes(bound, options);
  const memory::PartBytes parts = memory::peak(storages, memory::events(storages));
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

// Queries, keys and values of 8 tokens, two heads of 4 values of 4 bytes: 256 bytes each; a block's
// result 256 and its statistics 64. Of four steps the third needs most, when it begins:
//
//   768   queries, keys and values of this rank
//   320   the first two blocks, merged
//   512   keys and values of block 1, until those of block 2 have come
//   512   those of block 2
//   512   room for those of block 3
TEST(RingMemory, HoldsThreeBlocksOfKeysAndValues) {
  graph::Builder builder("ring");
  std::vector<TensorId> operands;
  for (const char* name : {"q", "k", "v"}) {
    operands.push_back(builder.input(name, {builder.batch(), 2, 8, 4}));
  }
  const auto context = static_cast<std::int64_t>(graph::Among::Context);
  builder.output(builder.add(graph::Kind::Attention, operands,
                             graph::Attributes{{graph::Attr::Among, {Dim(context)}}}));
  const graph::Graph ring = parallel::expand_rings(builder.finish(), 4);
  EXPECT_EQ(most(ring), 768 + 320 + 3 * 512);
}

}  // namespace
}  // namespace foretrain::operators
