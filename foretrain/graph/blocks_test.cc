// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/blocks.h"

#include <gtest/gtest.h>

#include "foretrain/graph/backward.h"
#include "foretrain/graph/passes.h"
#include "foretrain/graph/test_residual.h"

namespace foretrain::graph {
namespace {

using Names = std::vector<std::string>;

TensorId input(Builder& b) { return b.input("x", {b.batch(), 8}); }

Graph finish(Builder& b, TensorId x) {
  b.output(x);
  b.loss(b.add(Kind::Mean, {x}));
  return b.finish();
}

// A stem, `count` blocks "layers.0" ..., a head.
Graph stack(int count) {
  Builder b("stack");
  TensorId x = dense(b, "stem.0", input(b));
  for (int i = 0; i < count; ++i) x = residual(b, "layers." + std::to_string(i), x);
  return finish(b, dense(b, "head", x));
}

TEST(Blocks, AreTheRepeatedNumberedScopes) {
  const Graph graph = stack(3);
  const Blocks blocks = find_blocks(graph);
  EXPECT_EQ(blocks.scopes, (Names{"layers.0", "layers.1", "layers.2"}));
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const std::string& scope = graph.nodes[n].scope;
    EXPECT_EQ(blocks.of_node[n].has_value(), scope.starts_with("layers.")) << scope;
    if (blocks.of_node[n]) {
      EXPECT_TRUE(scope.starts_with(blocks.scopes[*blocks.of_node[n]])) << scope;
    }
  }
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    if (graph.tensors[t].role != Role::Parameter) continue;
    const std::string& name = graph.tensors[t].name;
    EXPECT_EQ(blocks.of_tensor[t].has_value(), name.starts_with("layers.")) << name;
  }
}

TEST(Blocks, OneAloneIsNotRepeated) { EXPECT_TRUE(find_blocks(stack(1)).scopes.empty()); }

TEST(Blocks, ThereAreNoneWithoutScopes) {
  Graph graph = stack(3);
  for (Node& node : graph.nodes) node.scope.clear();
  const Blocks blocks = find_blocks(graph);
  EXPECT_TRUE(blocks.scopes.empty());
  EXPECT_EQ(blocks.of_node.size(), graph.nodes.size());
  EXPECT_EQ(blocks.of_tensor.size(), graph.tensors.size());
}

// Layers of one GEMM each, as in VGG, are no blocks.
TEST(Blocks, SingleLayersAreNone) {
  Builder b("mlp");
  TensorId x = input(b);
  for (int i = 0; i < 4; ++i) x = dense(b, "features." + std::to_string(i), x);
  EXPECT_TRUE(find_blocks(finish(b, x)).scopes.empty());
}

// As in torchvision's residual networks and Swin: the stages are not what repeats, even where a
// stage has one block only.
TEST(Blocks, AreFoundInsideStages) {
  Builder b("stages");
  TensorId x = input(b);
  x = residual(b, "layer1.0", x);
  x = residual(b, "layer1.1", x);
  x = residual(b, "layer2.0", x);
  EXPECT_EQ(find_blocks(finish(b, x)).scopes, (Names{"layer1.0", "layer1.1", "layer2.0"}));
}

// Branches have the same layers but none needs another: the block is around them.
TEST(Blocks, BranchesBelongToTheirBlock) {
  Builder b("branches");
  TensorId x = input(b);
  for (const char* name : {"blocks.0", "blocks.1"}) {
    const Scope scope(b, name);
    x = b.add(Kind::Add, {residual(b, "branch1", x), residual(b, "branch2", x)});
  }
  EXPECT_EQ(find_blocks(finish(b, x)).scopes, (Names{"blocks.0", "blocks.1"}));
}

// T5: the numbered sublayers of a block have different layers.
TEST(Blocks, SublayersOfOtherKindsBelongToTheirBlock) {
  Builder b("t5");
  TensorId x = input(b);
  for (const char* name : {"block.0", "block.1"}) {
    const Scope scope(b, name);
    {
      const Scope attention(b, "layer.0");
      x = b.add(Kind::Add, {x, dense(b, "o", dense(b, "q", x))});
    }
    const Scope feed_forward(b, "layer.1");
    x = b.add(Kind::Add, {x, dense(b, "wo", dense(b, "wi", x))});
  }
  EXPECT_EQ(find_blocks(finish(b, x)).scopes, (Names{"block.0", "block.1"}));
}

// GoogLeNet numbers its blocks with a letter behind the stage.
TEST(Blocks, ALetterMayFollowTheNumber) {
  Builder b("googlenet");
  TensorId x = residual(b, "inception3a", input(b));
  x = residual(b, "inception3b", x);
  x = residual(b, "inception4a", x);
  EXPECT_EQ(find_blocks(finish(b, x)).scopes, (Names{"inception3a", "inception3b", "inception4a"}));
}

// FSDP keeps what two blocks share in the unit around them.
TEST(Blocks, ASharedParameterBelongsToNone) {
  Builder b("shared");
  const TensorId shared = b.parameter("shared", {8, 8});
  TensorId x = input(b);
  for (const char* name : {"layers.0", "layers.1"}) {
    x = residual(b, name, x);
    const Scope scope(b, name);
    x = b.add(Kind::Linear, {x, shared});
  }
  const Blocks blocks = find_blocks(finish(b, x));
  EXPECT_EQ(blocks.scopes.size(), 2u);
  EXPECT_FALSE(blocks.of_tensor[static_cast<std::size_t>(shared)]);
}

TEST(Blocks, OutliveThePassesOfAStep) {
  const Graph model = set_precision(stack(3), Precision::Fp16, Casting::Automatic);
  const Graph step = update(backward(model, GradientHandling::Accumulate), Optimizer::Adam);
  for (const Graph& graph : {model, step, fuse(step, Fusion::Pointwise)}) {
    const Blocks blocks = find_blocks(graph);
    EXPECT_EQ(blocks.scopes, (Names{"layers.0", "layers.1", "layers.2"}));
    // 3 blocks of 2 parameters; stem and head belong to none.
    int inside = 0;
    for (const auto& block : blocks.of_tensor) inside += block ? 1 : 0;
    EXPECT_EQ(inside, 6);
  }
}

// Gradients of a block's layers are computed in that block.
TEST(Blocks, BackwardNodesBelongToTheBlockOfTheirForward) {
  const Graph step = backward(stack(2));
  const Blocks blocks = find_blocks(step);
  for (const ParameterGradient& gradient : parameter_gradients(step)) {
    EXPECT_EQ(blocks.of_node[static_cast<std::size_t>(gradient.ready)],
              blocks.of_tensor[static_cast<std::size_t>(gradient.parameter)]);
  }
}

}  // namespace
}  // namespace foretrain::graph
