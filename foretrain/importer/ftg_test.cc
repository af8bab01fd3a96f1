// SPDX-License-Identifier: Apache-2.0
#include "foretrain/importer/ftg.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/bind.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"

namespace foretrain::importer {
namespace {

using namespace graph;  // NOLINT: this file is about graphs

const char* const kToy = R"({
  "format": "foretrain-graph",
  "version": 1,
  "name": "toy-mlp",
  "tensors": [
    {"name": "x", "shape": ["batch", 784], "role": "input"},
    {"name": "target", "shape": ["batch"], "type": "i64", "role": "input"},
    {"name": "fc1.weight", "shape": [256, 784], "role": "parameter"},
    {"name": "fc1.bias", "shape": [256], "role": "parameter"},
    {"name": "fc2.weight", "shape": [10, 256], "role": "parameter"}
  ],
  "nodes": [
    {"op": "linear", "inputs": ["x", "fc1.weight", "fc1.bias"], "outputs": ["h"]},
    {"op": "relu", "inputs": ["h"], "outputs": ["a"]},
    {"op": "linear", "inputs": ["a", "fc2.weight"], "outputs": ["y"]},
    {"op": "cross_entropy", "inputs": ["y", "target"], "outputs": ["loss"]}
  ],
  "outputs": ["y"],
  "loss": "loss"
})";

std::string message(std::string_view text) {
  try {
    read_ftg(text, "file 'm.ftg.json'");
  } catch (const Error& error) {
    return std::string(to_string(error.kind())) + ": " + error.what();
  }
  return "none";
}

void expect_same(const Graph& a, const Graph& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.symbols, b.symbols);
  EXPECT_EQ(a.outputs, b.outputs);
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_EQ(a.gradients, b.gradients);
  EXPECT_EQ(a.notes, b.notes);
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (std::size_t t = 0; t < a.tensors.size(); ++t) {
    const Tensor& x = a.tensors[t];
    const Tensor& y = b.tensors[t];
    EXPECT_TRUE(x.name == y.name && x.shape == y.shape && x.type == y.type && x.role == y.role &&
                x.trainable == y.trainable)
        << "tensor " << t;
  }
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  for (std::size_t n = 0; n < a.nodes.size(); ++n) {
    const Node& x = a.nodes[n];
    const Node& y = b.nodes[n];
    EXPECT_TRUE(x.kind == y.kind && x.phase == y.phase && x.inputs == y.inputs &&
                x.outputs == y.outputs && x.attributes == y.attributes && x.scope == y.scope &&
                x.label == y.label)
        << "node " << n;
  }
}

void expect_round_trip(const Graph& graph) {
  const std::string text = write_ftg(graph);
  const Graph again = read_ftg(text, "text");
  expect_same(graph, again);
  EXPECT_EQ(write_ftg(again), text);
}

// 256 * 784 + 256 + 10 * 256 = 203,520 learned values.
TEST(ReadFtg, InfersWhatAHandWrittenFileLeavesOut) {
  const Graph graph = read_ftg(kToy, "text");
  EXPECT_EQ(parameter_count(graph), 203520);
  ASSERT_EQ(graph.nodes.size(), 4U);
  EXPECT_EQ(to_string(graph.tensor(graph.outputs[0]).shape, graph.symbols), "[batch, 10]");
  EXPECT_EQ(graph.tensor(*graph.loss).shape, Shape{});
  EXPECT_EQ(graph.nodes[3].outputs.size(), 2U);  // loss and log-probabilities
}

TEST(WriteFtg, RoundTripsAModelAndItsWholeStep) {
  const Graph graph = read_ftg(kToy, "text");
  expect_round_trip(graph);
  for (const GradientHandling handling : {GradientHandling::Fresh, GradientHandling::Accumulate}) {
    const Graph half = set_precision(graph, Precision::Fp16, Casting::Automatic);
    const Graph step = update(backward(half, handling), Optimizer::Adam);
    expect_round_trip(step);
    expect_round_trip(fuse(step, Fusion::Pointwise));
  }
}

// A file whose one node is `node`, with x [batch, 4] and w [3, 4].
std::string with_node(const std::string& node) {
  return R"({"format": "foretrain-graph", "version": 1, "name": "m", "tensors": [)"
         R"({"name": "x", "shape": ["batch", 4], "role": "input"},)"
         R"({"name": "w", "shape": [3, 4], "role": "parameter"},)"
         R"({"name": "z", "shape": ["batch", 7]}],)"
         R"("nodes": [)" +
         node + "]}";
}

TEST(ReadFtg, MakesAnUnknownOperatorOpaqueWhenItsOutputsAreDeclared) {
  const Graph graph = read_ftg(
      with_node(R"({"op": "foo", "inputs": ["x"], "outputs": ["z"], "attributes": {"p": 0.5}})"),
      "text");
  EXPECT_EQ(graph.nodes[0].kind, Kind::Opaque);
  EXPECT_EQ(graph.nodes[0].label, "foo");
  EXPECT_EQ(graph.notes, std::vector<std::string>{"opaque operators: foo x1"});
  expect_round_trip(graph);
}

TEST(ReadFtg, CannotGuessTheShapesOfAnUnknownOperator) {
  EXPECT_EQ(message(with_node(R"({"op": "rellu", "inputs": ["x"], "outputs": ["y"]})")),
            "Unsupported: file 'm.ftg.json': node 0: the operator 'rellu' is not known and the "
            "shapes of its outputs are not given; list them under 'tensors'; did you mean 'relu'?");
}

}  // namespace
}  // namespace foretrain::importer
