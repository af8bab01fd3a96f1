// SPDX-License-Identifier: Apache-2.0
#include "foretrain/importer/onnx.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/passes.h"
#include "foretrain/importer/onnx/test_graph.h"

namespace foretrain::importer {
namespace {

using namespace testing;  // NOLINT: this file is about files
using graph::Graph;
using graph::Kind;
using graph::Role;

// conv 3 -> 8, 3 x 3, padded: 8 * 27 + 8 = 224; norm 16; fully connected 10 * 8 + 10 = 90.
File toy() {
  return File()
      .input("image", {"N", 3, 32, 32})
      .weight("conv.weight", {8, 3, 3, 3})
      .weight("conv.bias", {8})
      .weight("bn.weight", {8})
      .weight("bn.bias", {8})
      .weight("bn.running_mean", {8})
      .weight("bn.running_var", {8})
      .weight("fc.weight", {10, 8})
      .weight("fc.bias", {10})
      .run("Conv", {"image", "conv.weight", "conv.bias"}, {"c"},
           {attribute("pads", Numbers{1, 1, 1, 1}), attribute("strides", Numbers{2, 2})},
           "/stem/stem.0/conv/Conv")
      .run("BatchNormalization", {"c", "bn.weight", "bn.bias", "bn.running_mean", "bn.running_var"},
           {"n"})
      .run("Relu", {"n"}, {"r"})
      .run("GlobalAveragePool", {"r"}, {"p"})
      .run("Flatten", {"p"}, {"f"})
      .run("Gemm", {"f", "fc.weight", "fc.bias"}, {"y"}, {attribute("transB", 1)})
      .output("y");
}

TEST(Onnx, ReadsASmallNetwork) {
  const Graph graph = read(toy());
  EXPECT_EQ(graph::parameter_count(graph), 224 + 16 + 90);
  EXPECT_EQ(kinds(graph), (std::vector<Kind>{Kind::Conv, Kind::BatchNorm, Kind::Relu,
                                             Kind::AdaptiveAvgPool, Kind::Reshape, Kind::Linear}));
  EXPECT_EQ(shape(graph, 0), "[batch, 8, 16, 16]");  // (32 + 2 - 3) / 2 + 1
  EXPECT_EQ(output(graph), "[batch, 10]");
  EXPECT_EQ(graph.nodes[0].scope, "stem.0.conv");
  EXPECT_EQ(graph.nodes[1].scope, "bn");  // by its weights
  EXPECT_EQ(graph.symbols, std::vector<std::string>{"batch"});
}

TEST(Onnx, RunningStatisticsAreNotLearned) {
  const Graph graph = read(toy());
  EXPECT_EQ(tensor_named(graph, "bn.running_mean").role, Role::Buffer);
  EXPECT_EQ(tensor_named(graph, "bn.weight").role, Role::Parameter);
  EXPECT_TRUE(tensor_named(graph, "bn.weight").trainable);
  EXPECT_FALSE(tensor_named(graph, "bn.running_var").trainable);
}

// Per sample 8 * 16 * 16 outputs of 27 products and 10 of 8: 2 (55,296 + 80).
TEST(Onnx, CountsTheProducts) { EXPECT_EQ(gemm_flops(read(toy()), 4), 4 * 2 * (55296.0 + 80)); }

TEST(Onnx, EveryParameterGetsAGradient) {
  const Graph step = graph::update(graph::backward(read(toy())), graph::Optimizer::Adam);
  EXPECT_NO_THROW(graph::verify(step));
  EXPECT_EQ(step.gradients.size(), 6U);
}

TEST(Onnx, SaysThatThereIsNoLoss) {
  const Graph graph = read(toy());
  EXPECT_FALSE(graph.loss.has_value());
  EXPECT_TRUE(has_note(graph, "no loss in the file"));
}

// Only the graph that outputs need is kept, and unused weights do not count.
TEST(Onnx, LeavesOutWhatNoOutputNeeds) {
  const Graph graph = read(toy().weight("spare", {1000, 1000}).run("Exp", {"c"}, {"unused"}));
  EXPECT_EQ(graph::parameter_count(graph), 330);
  EXPECT_EQ(graph.nodes.size(), 6U);
}

TEST(Onnx, OldFilesListWeightsAmongTheInputs) {
  const Graph graph = read(toy().input("conv.weight", {8, 3, 3, 3}).input("fc.bias", {10}));
  EXPECT_EQ(graph::parameter_count(graph), 330);
  EXPECT_EQ(count_role(graph, Role::Input), 1);
}

TEST(Onnx, ShortFloatsFollowTheRequestedPrecision) {
  const Graph graph = read(File()
                               .input("x", {"batch", 4}, kFloat16)
                               .stored(tensor("w", kFloat16, {4, 4}))
                               .run("MatMul", {"x", "w"}, {"y"})
                               .output("y"));
  EXPECT_EQ(graph.tensors[0].type, DType::F32);
  EXPECT_EQ(tensor_named(graph, "w").type, DType::F32);
  EXPECT_TRUE(has_note(graph, "16-bit floats"));
}

// A file for one sample: the batch takes the place of every leading 1, reshapes included.
TEST(Onnx, OffersABatchWhereTheFileFixesOne) {
  const Graph graph =
      read(File()
               .input("x", {1, 4, 6})
               .weight("w", {6, 8})
               .list("heads", {1, 4, 2, 4})
               .list("flat", {1, -1})
               .run("MatMul", {"x", "w"}, {"h"})
               .run("Reshape", {"h", "heads"}, {"q"})
               .run("Transpose", {"q"}, {"t"}, {attribute("perm", Numbers{0, 2, 1, 3})})
               .run("Reshape", {"t", "flat"}, {"y"})
               .output("y"));
  EXPECT_EQ(output(graph), "[batch, 32]");
  EXPECT_TRUE(has_note(graph, "fixes the batch at 1"));
}

// Sequence first: the batch is the second axis of what is reshaped.
TEST(Onnx, OfferedBatchStaysOnItsAxis) {
  const Graph graph =
      read(File()
               .input("x", {1, 4, 6})
               .list("shape", {4, 2, 3})
               .run("Transpose", {"x"}, {"t"}, {attribute("perm", Numbers{1, 0, 2})})
               .run("Reshape", {"t", "shape"}, {"y"})
               .output("y"));
  EXPECT_EQ(output(graph), "[4, 2*batch, 3]");
}

TEST(Onnx, KeepsAFixedBatchThatCannotVary) {
  const Graph graph = read(File()
                               .input("x", {1, 4})
                               .input("mask", {1, 4})
                               .weight("table", {8, 4})
                               .run("Concat", {"x", "table"}, {"c"}, {attribute("axis", 0)})
                               .run("Relu", {"c"}, {"y"})
                               .output("y"));
  EXPECT_EQ(output(graph), "[9, 4]");
  EXPECT_TRUE(has_note(graph, "the file fixes the batch, so"));
}

TEST(Onnx, ReadsWhatATestWroteAsAFileToo) {
  const TemporaryFile file(toy().bytes());
  const Graph graph = read_onnx(file.path());
  EXPECT_EQ(graph::parameter_count(graph), 330);
  EXPECT_EQ(graph.name, file.path().stem().string());
  EXPECT_TRUE(is_onnx(toy().bytes()));
}

// A weight of 1 GiB that is a hole in the file: reading takes no memory for it.
TEST(Onnx, DoesNotReadLargeWeights) {
  constexpr std::int64_t kWidth = 16384;
  const std::uint64_t bytes = 4U * kWidth * kWidth;
  const std::string before = number(1, kWidth) + number(1, kWidth) + number(2, kFloat) +
                             text(8, "w") + varint((9U << 3U) | 2U) + varint(bytes);
  const std::string rest = File()
                               .input("x", {"batch", static_cast<int>(kWidth)})
                               .run("MatMul", {"x", "w"}, {"y"})
                               .output("y")
                               .graph();
  const auto field = [](int number, std::uint64_t size) {
    return varint((static_cast<std::uint64_t>(number) << 3U) | 2U) + varint(size);
  };
  const std::string weight = field(5, before.size() + bytes) + before;
  TemporaryFile file(number(1, 8) + text(8, number(2, 17)) +
                     field(7, rest.size() + weight.size() + bytes) + rest + weight);
  file.extend(bytes);
  const long before_kib = peak_memory_kib();
  const Graph graph = read_onnx(file.path());
  EXPECT_EQ(graph::parameter_count(graph), kWidth * kWidth);
  EXPECT_LT(peak_memory_kib() - before_kib, 50'000);
}

}  // namespace
}  // namespace foretrain::importer
