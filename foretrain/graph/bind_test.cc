// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/bind.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"

namespace foretrain::graph {
namespace {

Graph with_tensor(const Shape& shape, DType type) {
  Graph graph;
  graph.name = "m";
  graph.symbols = {"batch", "seq"};
  graph.tensors.push_back({"x", shape, type, Role::Input, false});
  return graph;
}

// [2*batch, seq*seq] with batch 3 and seq 5: 6 * 25 = 150 elements, 300 bytes of fp16.
TEST(Bind, ReplacesSymbolsByTheirValues) {
  const Graph graph = with_tensor({Dim(2) * symbol(0), symbol(1) * symbol(1)}, DType::F16);
  const Bound bound = bind(graph, {{"seq", 5}, {"batch", 3}, {"unused", 9}});
  EXPECT_EQ(bound.extent(0).rank, 2);
  EXPECT_EQ(bound.extent(0)[0], 6);
  EXPECT_EQ(bound.extent(0).from_end(1), 25);
  EXPECT_EQ(bound.count(0), 150);
  EXPECT_EQ(bound.bytes(0), 300);
}

TEST(Bind, CountsAScalarAsOneElement) {
  const Graph graph = with_tensor({}, DType::I64);
  EXPECT_EQ(bind(graph, {{"batch", 1}, {"seq", 1}}).bytes(0), 8);
}

TEST(Bind, NeedsAPositiveValueForEverySymbol) {
  const Graph graph = with_tensor({symbol(0)}, DType::F32);
  EXPECT_THROW(bind(graph, {{"batch", 1}}), Error);
  EXPECT_THROW(bind(graph, {{"batch", 0}, {"seq", 1}}), Error);
  EXPECT_THROW(bind(graph, {{"batch", -4}, {"seq", 1}}), Error);
}

TEST(Bind, RefusesMoreThan2To48Elements) {
  const Graph graph = with_tensor({symbol(0), symbol(0)}, DType::F32);
  EXPECT_EQ(bind(graph, {{"batch", 1 << 24}, {"seq", 1}}).count(0), 281474976710656.0);
  EXPECT_THROW(bind(graph, {{"batch", (1 << 24) + 1}, {"seq", 1}}), Error);
  EXPECT_THROW(bind(graph, {{"batch", std::int64_t{1} << 62}, {"seq", 1}}), Error);
}

}  // namespace
}  // namespace foretrain::graph
