// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/set_symbols.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/passes.h"

namespace foretrain::graph {
namespace {

// x[batch, 2*seq] becomes [batch*seq, 2].
Graph folded() {
  Graph graph;
  graph.name = "m";
  graph.symbols = {"batch", "seq"};
  graph.tensors.push_back({"x", {symbol(0), Dim(2) * symbol(1)}, DType::F32, Role::Input, false});
  Node node;
  node.kind = Kind::Reshape;
  node.inputs = {0};
  node.attributes.set(Attr::Shape, {symbol(0) * symbol(1), Dim(-1)});
  graph.outputs = append(graph, node);
  return graph;
}

std::vector<std::string> shapes_of(const Graph& graph) {
  std::vector<std::string> texts;
  for (const Tensor& tensor : graph.tensors) {
    texts.push_back(to_string(tensor.shape, graph.symbols));
  }
  return texts;
}

// 2*seq is 96 at seq 48, and batch*seq is 48*batch; -1 still means what is left.
TEST(SetSymbols, ReplacesOneAndLeavesTheOtherOpen) {
  const Graph graph = set_symbols(folded(), {{"seq", 48}});
  EXPECT_EQ(graph.symbols, std::vector<std::string>{"batch"});
  EXPECT_EQ(graph.tensors[0].shape, (Shape{symbol(0), Dim(96)}));
  EXPECT_EQ(graph.tensors[1].shape, (Shape{Dim(48) * symbol(0), Dim(2)}));
  EXPECT_EQ(*graph.nodes[0].attributes.find(Attr::Shape),
            (std::vector<Dim>{Dim(48) * symbol(0), Dim(-1)}));
  verify(graph);
}

// The second symbol becomes the first.
TEST(SetSymbols, TheSymbolsThatStayMoveUp) {
  const Graph graph = set_symbols(folded(), {{"batch", 3}});
  EXPECT_EQ(graph.symbols, std::vector<std::string>{"seq"});
  EXPECT_EQ(graph.tensors[1].shape, (Shape{Dim(3) * symbol(0), Dim(2)}));
  verify(graph);
}

TEST(SetSymbols, OneByOneIsAllAtOnceIsWhatBindCounts) {
  const Graph both = set_symbols(folded(), {{"seq", 5}, {"batch", 3}});
  EXPECT_TRUE(both.symbols.empty());
  EXPECT_EQ(shapes_of(both),
            shapes_of(set_symbols(set_symbols(folded(), {{"batch", 3}}), {{"seq", 5}})));
  const Graph open = folded();
  const Bound bound = bind(open, {{"seq", 5}, {"batch", 3}});
  const Bound numbers = bind(both, {});
  for (TensorId id = 0; id < 2; ++id) EXPECT_EQ(numbers.count(id), bound.count(id));
  EXPECT_EQ(shapes_of(set_symbols(folded(), {})), shapes_of(folded()));
}

TEST(SetSymbols, RefusesWhatIsNoSymbolAndNoSize) {
  try {
    set_symbols(folded(), {{"sequence", 3}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "graph 'm' has no symbol 'sequence'; it has batch, seq");
  }
  EXPECT_THROW(set_symbols(folded(), {{"seq", 0}}), Error);
  EXPECT_THROW(set_symbols(folded(), {{"seq", std::int64_t{1} << 50}}), Error);
}

}  // namespace
}  // namespace foretrain::graph
