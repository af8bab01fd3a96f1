// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/passes.h"

namespace foretrain::graph {
namespace {

// Tensors 0 x [batch, 3], 1 w [4, 3], 2 h, 3 y, 4 loss; nodes linear, relu, mean.
Graph good() {
  Builder builder("m");
  const TensorId x = builder.input("x", {builder.batch(), 3});
  const TensorId w = builder.parameter("w", {4, 3});
  const TensorId h = builder.add(Kind::Linear, {x, w});
  const TensorId y = builder.add(Kind::Relu, {h});
  builder.output(y);
  builder.loss(builder.add(Kind::Mean, {y}));
  return builder.finish();
}

std::string problem(const Graph& graph) {
  try {
    verify(graph);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    return error.what();
  }
  return "none";
}

template <typename Change>
std::string problem_after(const Change& change) {
  Graph graph = good();
  change(graph);
  return problem(graph);
}

TEST(Verify, AcceptsAModelAndItsStep) {
  EXPECT_EQ(problem(good()), "none");
  EXPECT_EQ(problem(backward(good())), "none");
  EXPECT_EQ(problem(update(backward(good(), GradientHandling::Accumulate), Optimizer::Lamb)),
            "none");
  EXPECT_EQ(problem(Graph{}), "none");
}

TEST(Verify, NamesANodeThatReadsOrWritesWhatIsNotThere) {
  EXPECT_EQ(problem_after([](Graph& g) { g.nodes[1].inputs = {99}; }),
            "model 'm', node 1 '' (relu): reads tensor 99, which is not there");
  EXPECT_EQ(problem_after([](Graph& g) { g.nodes[1].inputs = {-1}; }),
            "model 'm', node 1 '' (relu): reads tensor -1, which is not there");
  EXPECT_EQ(problem_after([](Graph& g) { g.nodes[1].outputs = {99}; }),
            "model 'm', node 1 '' (relu): writes tensor 99, which is not there");
}

TEST(Verify, FindsCyclesAndTheWrongOrder) {
  const std::string reads =
      " before any node writes it; nodes must be in execution order, without cycles";
  EXPECT_EQ(problem_after([](Graph& g) { g.nodes[0].inputs[0] = 3; }),
            "model 'm', node 0 '' (linear): reads tensor 3" + reads);
  EXPECT_EQ(problem_after([](Graph& g) { std::swap(g.nodes[0], g.nodes[1]); }),
            "model 'm', node 0 '' (relu): reads tensor 2" + reads);
  EXPECT_EQ(problem_after([](Graph& g) { g.nodes[1].inputs = g.nodes[1].outputs; }),
            "model 'm', node 1 '' (relu): reads tensor 3" + reads);
}

TEST(Verify, FindsATensorThatIsWrittenTwice) {
  EXPECT_EQ(problem_after([](Graph& g) { g.nodes.push_back(g.nodes[1]); }),
            "model 'm', node 3 '' (relu): writes tensor 3, which is there already");
  EXPECT_EQ(problem_after([](Graph& g) { g.nodes[1].outputs = {0}; }),
            "model 'm', node 1 '' (relu): writes tensor 0, which is there already");
  EXPECT_EQ(problem_after([](Graph& g) { g.tensors[3].role = Role::Gradient; }),
            "model 'm', node 1 '' (relu): writes tensor 3, which is no activation");
}

TEST(Verify, FindsAShapeThatItsOperatorWouldNotInfer) {
  EXPECT_EQ(
      problem_after([](Graph& g) {
        g.tensors[3].shape = {symbol(0), 5};
      }),
      "model 'm', node 1 '' (relu): output 0 has shape [batch, 5], its inputs give [batch, 4]");
  EXPECT_EQ(problem_after([](Graph& g) {
              g.tensors[1].shape = {4, 2};
            }),
            "model 'm', node 0 '' (linear): the last dimension differs from the weight's second");
  EXPECT_EQ(problem_after([](Graph& g) { g.nodes[1].outputs = {}; }),
            "model 'm', node 1 '' (relu): has 0 outputs instead of 1");
}

TEST(Verify, FindsDimensionsOutOfRange) {
  EXPECT_EQ(problem_after([](Graph& g) {
              g.tensors[0].shape = {0, 3};
            }),
            "model 'm': tensor 0 'x' has a dimension below 1");
  EXPECT_EQ(problem_after([](Graph& g) {
              g.tensors[0].shape = {-2, 3};
            }),
            "model 'm': tensor 0 'x' has a dimension below 1");
  const Dim large(std::int64_t{1} << 40);
  EXPECT_EQ(problem_after([&](Graph& g) {
              g.tensors[0].shape = {large, large};
            }),
            "model 'm': tensor 0 'x' has too many elements: "
            "a tensor has more than 2^48 elements; use smaller sizes");
}

TEST(Verify, FindsOutputsAndLossesThatNobodyWrites) {
  EXPECT_EQ(problem_after([](Graph& g) { g.outputs = {99}; }),
            "model 'm': an output names a tensor that no node writes");
  EXPECT_EQ(problem_after([](Graph& g) { g.nodes.pop_back(); }),
            "model 'm': the loss names a tensor that no node writes");
  EXPECT_EQ(problem_after([](Graph& g) { g.loss = -1; }),
            "model 'm': the loss names a tensor that no node writes");
  EXPECT_EQ(problem_after([](Graph& g) { g.loss = 3; }),
            "model 'm': the loss is not a single number");
}

TEST(Verify, FindsTrainableTensorsThatCannotLearn) {
  const std::string problem = " is trainable, but no floating-point parameter";
  EXPECT_EQ(problem_after([](Graph& g) { g.tensors[0].trainable = true; }),
            "model 'm': tensor 0 'x'" + problem);
  EXPECT_EQ(problem_after([](Graph& g) { g.tensors[1].type = DType::I64; }),
            "model 'm': tensor 1 'w'" + problem);
}

TEST(Verify, FindsGradientsThatFitNoParameter) {
  const std::string bad =
      "model 'm': a gradient does not belong to a trainable parameter of its shape";
  Graph step = backward(good());
  for (const std::pair<TensorId, TensorId>& pair :
       std::vector<std::pair<TensorId, TensorId>>{{99, 3}, {1, 99}, {-1, 3}, {0, 3}, {1, 3}}) {
    step.gradients = {pair};
    EXPECT_EQ(problem(step), bad);
  }
}

// Backward nodes are not inferred, but counts look at their tensors.
TEST(Verify, FindsBackwardNodesThatCannotBeCounted) {
  const auto backward_node = [](Kind kind, std::vector<TensorId> inputs,
                                std::vector<TensorId> outputs) {
    return [=](Graph& g) {
      Node node;
      node.kind = kind;
      node.phase = Phase::Backward;
      node.inputs = inputs;
      node.outputs = outputs;
      g.tensors.push_back({"", {4, 3}, DType::F32, Role::Gradient, false});  // 5
      g.nodes.push_back(node);
    };
  };
  const std::string at = "model 'm', node 3 '' ";
  EXPECT_EQ(problem_after(backward_node(Kind::MatMul, {2, 1}, {5})), "none");
  EXPECT_EQ(problem_after(backward_node(Kind::MatMul, {2}, {5})),
            at + "(matmul): has too few inputs");
  EXPECT_EQ(problem_after(backward_node(Kind::MatMul, {2, 1}, {})),
            at + "(matmul): has too few outputs");
  EXPECT_EQ(problem_after(backward_node(Kind::ConvWeightGrad, {2, 1}, {5})),
            at + "(conv_weight_grad): takes tensors of another rank");
  EXPECT_EQ(problem_after(backward_node(Kind::AttentionGrad, {2, 1, 0}, {5})),
            at + "(attention_grad): has too few inputs");
  EXPECT_EQ(problem_after(backward_node(Kind::NormGrad, {2}, {5})),
            at + "(norm_grad): has too few inputs");
  EXPECT_EQ(problem_after(backward_node(Kind::Fused, {}, {5})), at + "(fused): has too few inputs");
}

TEST(Verify, KeepsItsMessageOnOneLine) {
  Graph graph = good();
  graph.name = "two\nlines";
  graph.outputs = {99};
  EXPECT_EQ(problem(graph).find('\n'), std::string::npos);
}

}  // namespace
}  // namespace foretrain::graph
