// SPDX-License-Identifier: Apache-2.0
// Layers that exporters write as several nodes, and weights that they merge, copy or pack.
#include <gtest/gtest.h>

#include "foretrain/graph/backward.h"
#include "foretrain/graph/passes.h"
#include "foretrain/importer/onnx/test_graph.h"

namespace foretrain::importer {
namespace {

using namespace testing;  // NOLINT: this file is about files
using graph::Graph;
using graph::Kind;

std::string counting(const std::string& name, const Numbers& dims) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= dim;
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i));
  return tensor(name, kFloat, dims, raw(values));
}

std::string ones(const std::string& name, std::int64_t count) {
  return tensor(name, kFloat, {count}, raw(std::vector<float>(static_cast<std::size_t>(count), 1)));
}

TEST(OnnxLayers, AProductAndItsBiasAreOneLayer) {
  const Graph graph = read(File()
                               .input("x", {"batch", 5, 8})
                               .weight("w", {8, 3})
                               .weight("b", {3})
                               .run("MatMul", {"x", "w"}, {"p"})
                               .run("Add", {"b", "p"}, {"y"})
                               .output("y"));
  ASSERT_EQ(kinds(graph), std::vector<Kind>{Kind::Linear});
  EXPECT_EQ(graph.nodes[0].inputs.size(), 3U);
  EXPECT_EQ(graph::parameter_count(graph), 27);
  EXPECT_EQ(to_string(tensor_named(graph, "w").shape, graph.symbols), "[3, 8]");
}

TEST(OnnxLayers, AProductThatIsReadTwiceKeepsItsAddition) {
  const Graph graph = read(File()
                               .input("x", {"batch", 5, 8})
                               .weight("w", {8, 3})
                               .weight("b", {3})
                               .run("MatMul", {"x", "w"}, {"p"})
                               .run("Add", {"p", "b"}, {"q"})
                               .run("Mul", {"p", "q"}, {"y"})
                               .output("y"));
  EXPECT_EQ(kinds(graph), (std::vector<Kind>{Kind::Linear, Kind::Add, Kind::Mul}));
}

// Embedding and output layer share 10 * 4 values, whichever way the file turns them.
TEST(OnnxLayers, TiedWeightsCountOnce) {
  File file = File()
                  .input("ids", {"batch", 5}, kInt64)
                  .stored(counting("wte", {10, 4}))
                  .run("Gather", {"wte", "ids"}, {"e"})
                  .run("Transpose", {"wte"}, {"turned"})
                  .run("MatMul", {"e", "turned"}, {"y"})
                  .output("y");
  const Graph graph = read(file);
  EXPECT_EQ(graph::parameter_count(graph), 40);
  EXPECT_EQ(kinds(graph), (std::vector<Kind>{Kind::Embedding, Kind::Linear}));
  EXPECT_EQ(output(graph), "[batch, 5, 10]");
}

TEST(OnnxLayers, ATurnedCopyOfTheEmbeddingIsTheEmbedding) {
  std::vector<float> turned;
  for (int column = 0; column < 4; ++column) {
    for (int row = 0; row < 10; ++row) turned.push_back(static_cast<float>(4 * row + column));
  }
  const auto model = [&](const std::string& head) {
    return read(File()
                    .input("ids", {"batch", 5}, kInt64)
                    .stored(counting("wte", {10, 4}))
                    .stored(head)
                    .run("Gather", {"wte", "ids"}, {"e"})
                    .run("MatMul", {"e", "head"}, {"y"})
                    .output("y"));
  };
  const Graph tied = model(tensor("head", kFloat, {4, 10}, raw(turned)));
  EXPECT_EQ(graph::parameter_count(tied), 40);
  EXPECT_TRUE(has_note(tied, "turned copies"));
  EXPECT_EQ(graph::parameter_count(model(counting("head", {4, 10}))), 80);
  EXPECT_EQ(graph::parameter_count(model(tensor("head", kFloat, {4, 10}))), 80);
}

// Untrained norms all start from ones, which exporters store once; trained ones differ.
TEST(OnnxLayers, EqualVectorsOfSeveralLayersCountForEach) {
  const auto model = [](const std::string& scale) {
    return read(File()
                    .input("x", {"batch", 8})
                    .stored(scale)
                    .run("LayerNormalization", {"x", "a.weight"}, {"h"}, {}, "/a/Norm")
                    .run("LayerNormalization", {"h", "a.weight"}, {"y"}, {}, "/b/Norm")
                    .output("y"));
  };
  const Graph merged = model(ones("a.weight", 8));
  EXPECT_EQ(graph::parameter_count(merged), 16);
  EXPECT_EQ(tensor_named(merged, "b.weight").shape, graph::Shape{8});
  EXPECT_TRUE(has_note(merged, "had merged"));
  EXPECT_EQ(graph::parameter_count(model(counting("a.weight", {8}))), 8);
}

// Blocks that are made as copies of one have equal weights until they are trained. A layer that
// runs twice, or whose weight another layer takes, has one: 4 * 4.
TEST(OnnxLayers, EqualWeightsOfCopiedBlocksCountForEach) {
  const auto model = [](const std::string& second) {
    return read(File()
                    .input("x", {"batch", 4})
                    .stored(counting("layers.0.fc.weight", {4, 4}))
                    .run("MatMul", {"x", "layers.0.fc.weight"}, {"h"}, {}, "/layers.0/fc/MatMul")
                    .run("MatMul", {"h", "layers.0.fc.weight"}, {"y"}, {}, second)
                    .output("y"));
  };
  const Graph copied = model("/layers.11/fc/MatMul");
  EXPECT_EQ(graph::parameter_count(copied), 32);
  EXPECT_EQ(tensor_named(copied, "layers.11.fc.weight").role, graph::Role::Parameter);
  EXPECT_TRUE(has_note(copied, "had merged"));
  EXPECT_EQ(graph::parameter_count(model("/layers.0/fc/MatMul_1")), 16);
  EXPECT_EQ(graph::parameter_count(model("/head/fc/MatMul")), 16);
}

TEST(OnnxLayers, SaysThatBatchNormsWereFolded) {
  const auto model = [](const std::string& weight) {
    return read(File()
                    .input("x", {"batch", 3, 8, 8})
                    .weight(weight, {4, 3, 3, 3})
                    .run("Conv", {"x", weight}, {"y"})
                    .output("y"));
  };
  EXPECT_TRUE(has_note(model("onnx::Conv_12"), "1 convolutions have a batch norm folded in"));
  EXPECT_FALSE(has_note(model("stem.weight"), "folded"));
}

TEST(OnnxLayers, TablesOfPositionsAreNotLearned) {
  const auto model = [](const std::string& name) {
    return read(File()
                    .input("x", {"batch", 5, 4})
                    .stored(counting(name, {5, 4}))
                    .run("Mul", {"x", name}, {"y"})
                    .output("y"));
  };
  EXPECT_EQ(graph::parameter_count(model("rotary.cos")), 0);
  EXPECT_EQ(graph::parameter_count(model("encoder.pe")), 0);
  EXPECT_EQ(graph::parameter_count(model("encoder.gate")), 20);
}

TEST(OnnxLayers, OldExportersNameTheCopies) {
  const Graph graph = read(File()
                               .input("x", {"batch", 8})
                               .stored(ones("a.weight", 8))
                               .run("Identity", {"a.weight"}, {"b.weight"})
                               .run("LayerNormalization", {"x", "a.weight"}, {"h"})
                               .run("LayerNormalization", {"h", "b.weight"}, {"y"})
                               .output("y"));
  EXPECT_EQ(graph::parameter_count(graph), 16);
  EXPECT_EQ(graph.nodes[1].scope, "b");
  EXPECT_EQ(tensor_named(graph, "b.weight").shape, graph::Shape{8});
}

TEST(OnnxLayers, ANormWithoutWeightsHasNone) {
  const Graph graph = read(File()
                               .input("x", {"batch", 8})
                               .run("Constant", {}, {"s"}, {tensor_attribute("value", ones("", 8))})
                               .run("LayerNormalization", {"x", "s"}, {"y"})
                               .output("y"));
  EXPECT_EQ(graph::parameter_count(graph), 0);
}

// 4 * 16 * (8 + 16) + 2 * 4 * 16 values per direction.
TEST(OnnxLayers, RecurrentWeightsAreSplitByDirection) {
  const Graph graph =
      read(File()
               .input("x", {7, "batch", 8})
               .weight("W", {2, 64, 8})
               .weight("R", {2, 64, 16})
               .weight("B", {2, 128})
               .run("LSTM", {"x", "W", "R", "B"}, {"y", "h", "c"},
                    {attribute("hidden_size", 16), attribute("direction", "bidirectional")})
               .output("y")
               .output("h")
               .output("c"));
  EXPECT_EQ(graph::parameter_count(graph), 2 * (4 * 16 * (8 + 16) + 128));
  EXPECT_EQ(output(graph, 0), "[7, 2, batch, 16]");
  EXPECT_EQ(output(graph, 1), "[2, batch, 16]");
  EXPECT_EQ(output(graph, 2), "[2, batch, 16]");
  EXPECT_EQ(to_string(tensor_named(graph, "W_reverse").shape, graph.symbols), "[64, 8]");
  // Each of 7 steps meets every weight matrix.
  EXPECT_EQ(gemm_flops(graph, 3), 2.0 * 7 * 3 * 2 * 64 * (8 + 16));
}

TEST(OnnxLayers, GatedUnitWithoutItsSequenceTrainsToo) {
  const Graph graph =
      read(File()
               .input("x", {"seq", "batch", 8})
               .weight("W", {1, 48, 8})
               .weight("R", {1, 48, 16})
               .run("GRU", {"x", "W", "R"}, {"", "h"}, {attribute("hidden_size", 16)})
               .output("h"));
  EXPECT_EQ(output(graph), "[1, batch, 16]");
  EXPECT_EQ(graph::backward(graph).gradients.size(), 2U);
}

// PyTorch orders the gates otherwise, so its exporters cut the weights and join them again.
TEST(OnnxLayers, ReorderedGatesAreStillTheParameters) {
  File file = File().input("x", {7, "batch", 8}).weight("w_ih", {16, 8}).weight("w_hh", {16, 4});
  file.list("zero", {0}).list("half", {8}).list("all", {16});
  for (const std::string name : {"w_ih", "w_hh"}) {
    file.run("Slice", {name, "zero", "half", "zero"}, {name + "_a"})
        .run("Slice", {name, "half", "all", "zero"}, {name + "_b"})
        .run("Concat", {name + "_b", name + "_a"}, {name + "_c"}, {attribute("axis", 0)})
        .run("Unsqueeze", {name + "_c", "zero"}, {name + "_d"});
  }
  const Graph graph =
      read(file.run("LSTM", {"x", "w_ih_d", "w_hh_d"}, {"y"}, {attribute("hidden_size", 4)})
               .output("y"));
  EXPECT_EQ(graph::parameter_count(graph), 16 * 12);
  EXPECT_EQ(count(graph, Kind::Slice), 0);
  EXPECT_EQ(count(graph, Kind::Concat), 0);
}

// Projections 8 * 24 + 24; scores and values 2 * 2 * heads * 5 * 5 * 4 each per sample.
TEST(OnnxLayers, PackedAttentionHasItsProjections) {
  const Graph graph = read(File()
                               .input("x", {"batch", 5, 8})
                               .weight("w", {8, 24})
                               .weight("b", {24})
                               .run("Attention", {"x", "w", "b"}, {"y"},
                                    {attribute("num_heads", 2)}, "", "com.microsoft")
                               .output("y"));
  EXPECT_EQ(graph::parameter_count(graph), 216);
  EXPECT_EQ(output(graph), "[batch, 5, 8]");
  EXPECT_EQ(gemm_flops(graph, 1), 2.0 * 5 * 8 * 24 + 2 * 2 * 2 * 5 * 5 * 4);
}

TEST(OnnxLayers, AttentionOfOnnxTakesFlatAndSplitHeads) {
  const Graph flat = read(File()
                              .opset(23)
                              .input("q", {"batch", 5, 8})
                              .input("k", {"batch", 6, 4})
                              .input("v", {"batch", 6, 4})
                              .run("Attention", {"q", "k", "v"}, {"y"},
                                   {attribute("q_num_heads", 4), attribute("kv_num_heads", 2)})
                              .output("y"));
  EXPECT_EQ(output(flat), "[batch, 5, 8]");
  EXPECT_EQ(count(flat, Kind::Attention), 1);
}

// A weight of 4 x 3 values, and 4 that the file makes of a zero.
TEST(OnnxLayers, ABiasThatIsComputedToBeZerosIsNone) {
  const Graph graph = read(File()
                               .input("x", {"batch", 3, 7})
                               .weight("w", {4, 3, 1})
                               .list("four", {4})
                               .run("ConstantOfShape", {"four"}, {"zeros"})
                               .run("Conv", {"x", "w", "zeros"}, {"y"})
                               .output("y"));
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.nodes.front().inputs.size(), 2U);
  EXPECT_EQ(graph::parameter_count(graph), 12);
}

// Scores of [batch, classes, places] and a target per place: a loss of one number.
TEST(OnnxLayers, ATrainingFileHasItsLoss) {
  const Graph graph = read(File()
                               .input("x", {"batch", 10, 7})
                               .input("t", {"batch", 7}, kInt64)
                               .weight("w", {10, 10, 1})
                               .run("Conv", {"x", "w"}, {"scores"})
                               .run("SoftmaxCrossEntropyLoss", {"scores", "t"}, {"loss"})
                               .output("loss"));
  ASSERT_TRUE(graph.loss.has_value());
  EXPECT_EQ(graph.nodes.back().kind, Kind::CrossEntropy);
  EXPECT_FALSE(has_note(graph, "no loss"));
  EXPECT_EQ(graph::backward(graph).gradients.size(), 1U);
}

}  // namespace
}  // namespace foretrain::importer
