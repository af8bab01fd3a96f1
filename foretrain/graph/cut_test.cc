// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/cut.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/passes.h"

namespace foretrain::graph {
namespace {

using Counts = std::vector<int>;

TensorId dense(Builder& b, const std::string& name, TensorId x) {
  const Scope scope(b, name);
  return b.add(Kind::Linear, {x, b.parameter("weight", {8, 8})});
}

TensorId residual(Builder& b, const std::string& name, TensorId x) {
  const Scope scope(b, name);
  const TensorId y = dense(b, "fc2", b.add(Kind::Relu, {dense(b, "fc1", x)}));
  return b.add(Kind::Add, {x, y});
}

Graph finish(Builder& b, TensorId x) {
  b.output(x);
  b.loss(b.add(Kind::Mean, {x}));
  return b.finish();
}

// A stem, blocks "layers.0" ..., a head.
Graph stack(int blocks) {
  Builder b("stack");
  TensorId x = dense(b, "stem", b.input("x", {b.batch(), 8}));
  for (int i = 0; i < blocks; ++i) x = residual(b, "layers." + std::to_string(i), x);
  return finish(b, dense(b, "head", x));
}

std::vector<Kind> kinds(const Graph& graph) {
  std::vector<Kind> list;
  for (const Node& node : graph.nodes) list.push_back(node.kind);
  return list;
}

Graph stage(const Graph& model, int part, int parts) {
  return take_parts(model, cut_at_blocks(model, parts), {part});
}

TEST(Cut, PartsHaveEquallyManyBlocks) {
  EXPECT_EQ(cut_at_blocks(stack(8), 4).blocks, (Counts{2, 2, 2, 2}));
  EXPECT_EQ(cut_at_blocks(stack(4), 1).blocks, (Counts{4}));
}

// The first part also has the stem, the last the head: those in the middle get more.
TEST(Cut, WhatIsLeftGoesToTheMiddle) {
  EXPECT_EQ(cut_at_blocks(stack(6), 4).blocks, (Counts{1, 2, 2, 1}));
  EXPECT_EQ(cut_at_blocks(stack(7), 4).blocks, (Counts{2, 2, 2, 1}));
  EXPECT_EQ(cut_at_blocks(stack(5), 4).blocks, (Counts{1, 2, 1, 1}));
  EXPECT_EQ(cut_at_blocks(stack(3), 2).blocks, (Counts{2, 1}));
}

TEST(Cut, EveryNodeIsInOnePart) {
  const Graph model = stack(5);
  const Cut cut = cut_at_blocks(model, 3);
  std::vector<NodeId> all;
  for (const std::vector<NodeId>& nodes : cut.nodes) {
    all.insert(all.end(), nodes.begin(), nodes.end());
  }
  ASSERT_EQ(all.size(), model.nodes.size());
  for (std::size_t n = 0; n < all.size(); ++n) EXPECT_EQ(all[n], static_cast<NodeId>(n));
  for (const std::vector<TensorId>& border : cut.borders) EXPECT_EQ(border.size(), 1u);
}

TEST(Cut, AStageReceivesComputesAndSends) {
  const Graph model = stack(3);
  using K = Kind;
  EXPECT_EQ(kinds(stage(model, 0, 3)),
            (std::vector<Kind>{K::Linear, K::Linear, K::Relu, K::Linear, K::Add, K::Send}));
  EXPECT_EQ(kinds(stage(model, 1, 3)),
            (std::vector<Kind>{K::Receive, K::Linear, K::Relu, K::Linear, K::Add, K::Send}));
  EXPECT_EQ(kinds(stage(model, 2, 3)), (std::vector<Kind>{K::Receive, K::Linear, K::Relu, K::Linear,
                                                          K::Add, K::Linear, K::Mean}));
  for (int part = 0; part < 3; ++part) {
    const Graph graph = stage(model, part, 3);
    verify(graph);
    EXPECT_EQ(graph.loss.has_value(), part == 2);
  }
}

TEST(Cut, GradientsGoTheOtherWay) {
  const Graph model = stack(3);
  const auto transfers = [](const Graph& step) {
    std::vector<std::pair<Kind, Phase>> list;
    for (const Node& node : step.nodes) {
      if (node.kind == Kind::Send || node.kind == Kind::Receive) {
        list.emplace_back(node.kind, node.phase);
      }
    }
    return list;
  };
  using List = std::vector<std::pair<Kind, Phase>>;
  const List first{{Kind::Send, Phase::Forward}, {Kind::Receive, Phase::Backward}};
  const List middle{{Kind::Receive, Phase::Forward},
                    {Kind::Send, Phase::Forward},
                    {Kind::Receive, Phase::Backward},
                    {Kind::Send, Phase::Backward}};
  const List last{{Kind::Receive, Phase::Forward}, {Kind::Send, Phase::Backward}};
  const std::vector<List> expected{first, middle, last};
  std::size_t gradients = 0;
  for (int part = 0; part < 3; ++part) {
    const Graph step = backward(stage(model, part, 3));
    verify(step);
    EXPECT_EQ(transfers(step), expected[static_cast<std::size_t>(part)]);
    gradients += step.gradients.size();
  }
  EXPECT_EQ(gradients, backward(stack(3)).gradients.size());
}

TEST(Cut, NothingComesBackWhereNothingIsTrained) {
  Trainable head;
  head.part = Trainable::Part::Head;
  const Graph model = set_trainable(stack(3), head);
  for (int part = 0; part < 3; ++part) {
    const Graph step = backward(stage(model, part, 3));
    for (const Node& node : step.nodes) {
      if (node.phase == Phase::Backward) {
        EXPECT_NE(node.kind, Kind::Send);
        EXPECT_NE(node.kind, Kind::Receive);
      }
    }
  }
}

TEST(Cut, MiddleStagesAreAlike) {
  const Graph model = stack(8);
  EXPECT_TRUE(is_alike(stage(model, 1, 4), stage(model, 2, 4)));
  EXPECT_FALSE(is_alike(stage(model, 0, 4), stage(model, 1, 4)));
  EXPECT_FALSE(is_alike(stage(model, 2, 4), stage(model, 3, 4)));
}

TEST(Cut, ARankMayHoldSeveralParts) {
  const Graph model = stack(4);
  const Graph rank = take_parts(model, cut_at_blocks(model, 4), {0, 2});
  verify(rank);
  int sends = 0;
  int receives = 0;
  for (const Node& node : rank.nodes) {
    sends += node.kind == Kind::Send ? 1 : 0;
    receives += node.kind == Kind::Receive ? 1 : 0;
  }
  EXPECT_EQ(sends, 2);
  EXPECT_EQ(receives, 1);
  verify(backward(rank));
}

// The embedding's table is also that of the head.
TEST(Cut, TiedParametersAreOnBothStages) {
  Builder b("tied");
  const TensorId table = b.parameter("table", {8, 8});
  TensorId x = b.add(Kind::Embedding, {b.input("ids", {b.batch()}, DType::I64), table});
  for (int i = 0; i < 4; ++i) x = residual(b, "layers." + std::to_string(i), x);
  const Graph model = finish(b, b.add(Kind::Linear, {x, table}));
  const Cut cut = cut_at_blocks(model, 4);
  const std::vector<SharedParameter> shared = shared_parameters(model, cut);
  ASSERT_EQ(shared.size(), 1u);
  EXPECT_EQ(shared.front().parameter, table);
  EXPECT_EQ(shared.front().parts, (Counts{0, 3}));
  for (int part = 0; part < 4; ++part) verify(backward(stage(model, part, 4)));
}

// A mask that is made of an input alone is made by every stage that reads it.
TEST(Cut, MasksAreMadeWhereTheyAreRead) {
  Builder b("masked");
  const TensorId mask = b.add(Kind::Scale, {b.input("mask", {b.batch(), 8})});
  TensorId x = dense(b, "stem", b.input("x", {b.batch(), 8}));
  for (int i = 0; i < 3; ++i) {
    x = residual(b, "layers." + std::to_string(i), x);
    b.enter("layers." + std::to_string(i));
    x = b.add(Kind::Mul, {x, mask});
    b.leave();
  }
  const Graph model = finish(b, x);
  const Cut cut = cut_at_blocks(model, 3);
  for (std::size_t part = 0; part < 3; ++part) EXPECT_EQ(cut.nodes[part].front(), 0);
  EXPECT_EQ(cut.borders.front().size(), 1u);
}

TEST(Cut, RefusesWhatCannotBeCut) {
  EXPECT_THROW(cut_at_blocks(stack(3), 4), Error);  // fewer blocks than parts
  Builder plain("plain");
  const TensorId y = dense(plain, "one", plain.input("x", {plain.batch(), 8}));
  EXPECT_THROW(cut_at_blocks(finish(plain, y), 2), Error);  // no blocks
  Builder b("skip");
  const TensorId stem = dense(b, "stem", b.input("x", {b.batch(), 8}));
  TensorId x = stem;
  for (int i = 0; i < 3; ++i) x = residual(b, "layers." + std::to_string(i), x);
  const Graph skip = finish(b, b.add(Kind::Add, {x, stem}));
  EXPECT_THROW(cut_at_blocks(skip, 3), Error);  // the last part reads what the first computed
  EXPECT_NO_THROW(cut_at_blocks(skip, 2));
}

}  // namespace
}  // namespace foretrain::graph
