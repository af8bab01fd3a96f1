// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/recompute.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "foretrain/base/error.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"
#include "foretrain/graph/test_residual.h"

namespace foretrain::graph {
namespace {

using Names = std::vector<std::string>;

Graph stack(int count) {
  Builder b("stack");
  TensorId x = dense(b, "stem", b.input("x", {b.batch(), 8}));
  for (int i = 0; i < count; ++i) x = residual(b, "layers." + std::to_string(i), x);
  b.output(x);
  b.loss(b.add(Kind::Mean, {x}));
  return b.finish();
}

// Scores, softmax and context of one head between linear layers.
TensorId attention(Builder& b, TensorId x) {
  const Scope scope(b, "attn");
  const TensorId q = dense(b, "q", x);
  const TensorId k = dense(b, "k", x);
  const TensorId v = dense(b, "v", x);
  TensorId scores = b.add(Kind::Scale, {b.add(Kind::MatMul, {q, k}, {{Attr::TransposeB, {1}}})});
  scores = b.add(Kind::Dropout, {b.add(Kind::Softmax, {scores}, {{Attr::Axis, {Dim(-1)}}})});
  return dense(b, "o", b.add(Kind::MatMul, {scores, v}));
}

Graph transformer(int count) {
  Builder b("transformer");
  TensorId x = dense(b, "stem", b.input("x", {b.batch(), 6, 8}));
  for (int i = 0; i < count; ++i) {
    const Scope scope(b, "layers." + std::to_string(i));
    x = b.add(Kind::Add, {x, attention(b, x)});
  }
  b.output(x);
  b.loss(b.add(Kind::Mean, {x}));
  return b.finish();
}

Names recomputed(const Graph& step) {
  Names names;
  for (const Node& node : step.nodes) {
    if (node.phase == Phase::Recompute) names.push_back(node.scope + " " + operator_name(node));
  }
  return names;
}

// Activations of the forward pass that backward or what runs again reads: what is kept.
std::set<TensorId> kept(const Graph& step) {
  std::set<TensorId> written;
  std::set<TensorId> result;
  for (const Node& node : step.nodes) {
    if (node.phase == Phase::Forward) {
      written.insert(node.outputs.begin(), node.outputs.end());
      continue;
    }
    for (const TensorId id : node.inputs) {
      if (written.contains(id)) result.insert(id);
    }
  }
  return result;
}

Graph step_of(const Graph& model, Recompute what, bool to_the_end = false) {
  Graph step = backward(model, GradientHandling::Fresh, {what, to_the_end});
  verify(step);
  return step;
}

// Backward needs the input of fc1, the relu's output (its own and fc2's), nothing of the addition:
// fc2 and the addition do not run again.
TEST(Recompute, StopsWhenAllIsThereThatBackwardNeeds) {
  const Graph step = step_of(stack(2), Recompute::Full);
  EXPECT_EQ(recomputed(step), (Names{"layers.1.fc1 linear", "layers.1 relu",  //
                                     "layers.0.fc1 linear", "layers.0 relu"}));
}

TEST(Recompute, RunsToTheEndWhereTheFrameworkDoes) {
  const Graph step = step_of(stack(2), Recompute::Full, true);
  EXPECT_EQ(recomputed(step),
            (Names{"layers.1.fc1 linear", "layers.1 relu", "layers.1.fc2 linear", "layers.1 add",
                   "layers.0.fc1 linear", "layers.0 relu", "layers.0.fc2 linear", "layers.0 add"}));
}

// Without: both blocks keep input and relu. With: their inputs alone. The loss keeps nothing.
TEST(Recompute, KeepsTheInputsOfBlocks) {
  EXPECT_EQ(kept(step_of(stack(2), Recompute::None)).size(), 4u);
  EXPECT_EQ(kept(step_of(stack(2), Recompute::Full)).size(), 2u);
  EXPECT_EQ(kept(step_of(stack(2), Recompute::Full, true)).size(), 2u);
}

// A block runs again right before the first of its gradients that needs it, after all of the
// blocks behind it.
TEST(Recompute, RunsABlockRightBeforeItsBackward) {
  const Graph step = step_of(stack(2), Recompute::Full);
  Names order;
  for (const Node& node : step.nodes) {
    if (node.phase == Phase::Forward || !node.scope.starts_with("layers.")) continue;
    const std::string name =
        node.scope.substr(0, 8) + " " + (node.phase == Phase::Recompute ? "again" : "backward");
    if (order.empty() || order.back() != name) order.push_back(name);
  }
  EXPECT_EQ(order,
            (Names{"layers.1 again", "layers.1 backward", "layers.0 again", "layers.0 backward"}));
}

TEST(Recompute, NoneLeavesTheStepAsItIs) {
  const Graph plain = backward(stack(2));
  const Graph none = step_of(stack(2), Recompute::None);
  EXPECT_EQ(plain.nodes.size(), none.nodes.size());
  EXPECT_EQ(plain.tensors.size(), none.tensors.size());
  EXPECT_EQ(plain.notes, none.notes);
}

TEST(Recompute, TheSameParametersGetGradients) {
  const Graph none = step_of(stack(3), Recompute::None);
  const Graph full = step_of(stack(3), Recompute::Full);
  ASSERT_EQ(none.gradients.size(), full.gradients.size());
  for (std::size_t i = 0; i < none.gradients.size(); ++i) {
    EXPECT_EQ(none.gradients[i].first, full.gradients[i].first);
  }
}

// Autocast casts the weights once for the forward pass and again where a block runs again: no copy
// of them is kept for its backward pass.
TEST(Recompute, CastsParametersAgain) {
  const Graph model = set_precision(stack(2), Precision::Bf16, Casting::Automatic);
  const Graph step = step_of(model, Recompute::Full);
  const Names again = recomputed(step);
  EXPECT_EQ(std::count(again.begin(), again.end(), "layers.0.fc2 cast"), 1);  // its weight
  for (const TensorId id : kept(step)) {
    for (const Node& node : step.nodes) {
      const bool writes =
          std::find(node.outputs.begin(), node.outputs.end(), id) != node.outputs.end();
      if (!writes || node.kind != Kind::Cast || !node.scope.starts_with("layers")) continue;
      EXPECT_NE(step.tensor(node.inputs.front()).role, Role::Parameter) << node.scope;
    }
  }
}

// The core of attention: the softmax saves its output, dropout its mask, the context's product
// its inputs, so that this one does not run again unless the framework runs all.
TEST(Recompute, SelectiveRunsTheCoreOfAttentionAgain) {
  const Names core{"layers.1.attn matmul", "layers.1.attn scale", "layers.1.attn softmax",
                   "layers.1.attn dropout"};
  Names again = recomputed(step_of(transformer(2), Recompute::Selective));
  ASSERT_EQ(again.size(), 8u);
  again.resize(4);
  EXPECT_EQ(again, core);
  EXPECT_EQ(recomputed(step_of(transformer(2), Recompute::Selective, true)).size(), 10u);
}

// Of each layer: its input, q, k and v, probabilities, mask, dropped probabilities, context.
TEST(Recompute, SelectiveKeepsNoScores) {
  EXPECT_EQ(kept(step_of(transformer(2), Recompute::None)).size(), 2 * 8u);
  EXPECT_EQ(kept(step_of(transformer(2), Recompute::Selective)).size(), 2 * 5u);
  EXPECT_EQ(kept(step_of(transformer(2), Recompute::Full)).size(), 2 * 1u);
}

// What comes after a block may keep its output; that stays, and is not computed again.
TEST(Recompute, WhatOthersKeepStays) {
  Builder b("head");
  TensorId x = dense(b, "stem", b.input("x", {b.batch(), 8}));
  x = residual(b, "layers.1", residual(b, "layers.0", x));
  x = dense(b, "head", x);
  b.output(x);
  b.loss(b.add(Kind::Mean, {x}));
  const Graph step = step_of(b.finish(), Recompute::Full);
  EXPECT_EQ(kept(step).size(), 3u);  // the inputs of both blocks and of the head
  EXPECT_EQ(recomputed(step).size(), 4u);
}

// Called twice, a block runs again twice: the second call needs what lies between.
TEST(Recompute, CallsOfABlockAreCheckpointsOfTheirOwn) {
  Builder b("twice");
  const TensorId w = b.parameter("w", {8, 8});
  TensorId x = dense(b, "stem", b.input("x", {b.batch(), 8}));
  for (int call = 0; call < 2; ++call) {
    for (const char* name : {"layers.0", "layers.1"}) {
      for (const char* layer : {"fc1", "fc2"}) {
        const Scope scope(b, std::string(name) + "." + layer);
        x = b.add(Kind::Relu, {b.add(Kind::Linear, {x, w})});
      }
    }
  }
  b.output(x);
  b.loss(b.add(Kind::Mean, {x}));
  const Graph model = b.finish();
  EXPECT_EQ(find_checkpoints(model, {Recompute::Full}).size(), 4u);
  EXPECT_EQ(kept(step_of(model, Recompute::Full)).size(), 4u);
}

TEST(Recompute, NothingRunsAgainWhereNothingIsTrained) {
  Graph model = stack(2);
  for (Tensor& tensor : model.tensors) {
    if (tensor.name.starts_with("stem") || tensor.name.starts_with("layers.0")) {
      tensor.trainable = false;
    }
  }
  // The first block and the stem are frozen: their gradients are not computed.
  EXPECT_EQ(recomputed(step_of(model, Recompute::Full)),
            (Names{"layers.1.fc1 linear", "layers.1 relu"}));
}

TEST(Recompute, SaysWhatItFound) {
  const auto said = [](const Graph& model, Recompute what) {
    return backward(model, GradientHandling::Fresh, {what, false}).notes.back();
  };
  EXPECT_NE(said(stack(2), Recompute::Full).find("2 blocks"), std::string::npos);
  EXPECT_NE(said(stack(1), Recompute::Full).find("no repeated blocks"), std::string::npos);
  EXPECT_NE(said(stack(2), Recompute::Selective).find("no attention"), std::string::npos);
  EXPECT_NE(said(transformer(2), Recompute::Selective).find("2 attentions"), std::string::npos);
}

TEST(Recompute, IsReadByItsName) {
  EXPECT_EQ(parse_recompute("full"), Recompute::Full);
  EXPECT_EQ(parse_recompute("selective"), Recompute::Selective);
  EXPECT_EQ(parse_recompute("none"), Recompute::None);
  EXPECT_THROW(parse_recompute("all"), Error);
}

}  // namespace
}  // namespace foretrain::graph
