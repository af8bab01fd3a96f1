// SPDX-License-Identifier: Apache-2.0
#include "foretrain/importer/ftg.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/graph/attr_names.h"
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

TEST(ReadFtg, CountsOperatorsThatItDoesNotKnow) {
  std::string nodes;
  std::string tensors = R"({"name": "x", "shape": [2], "role": "input"})";
  for (int i = 0; i < 3; ++i) {
    const std::string name = "y" + std::to_string(i);
    tensors += R"(, {"name": ")" + name + R"(", "shape": [2]})";
    nodes += std::string(i == 0 ? "" : ", ") + R"({"op": ")" + (i == 1 ? "bar" : "foo") +
             R"(", "inputs": ["x"], "outputs": [")" + name + "\"]}";
  }
  const Graph graph = read_ftg(R"({"format": "foretrain-graph", "version": 1, "tensors": [)" +
                                   tensors + R"(], "nodes": [)" + nodes + "]}",
                               "text");
  EXPECT_EQ(graph.notes, std::vector<std::string>{"opaque operators: bar x1, foo x2"});
}

TEST(ReadFtg, CannotGuessTheShapesOfAnUnknownOperator) {
  EXPECT_EQ(message(with_node(R"({"op": "rellu", "inputs": ["x"], "outputs": ["y"]})")),
            "Unsupported: file 'm.ftg.json': node 0: the operator 'rellu' is not known and the "
            "shapes of its outputs are not given; list them under 'tensors'; did you mean 'relu'?");
  EXPECT_EQ(message(with_node(R"({"op": "foo", "inputs": ["x"]})")),
            "Unsupported: file 'm.ftg.json': node 0: the operator 'foo' is not known and the "
            "shapes of its outputs are not given; list them under 'tensors'");
  EXPECT_EQ(message(with_node(R"({"op": "fused", "inputs": ["x"], "outputs": ["y"]})")),
            "BadInput: file 'm.ftg.json': node 0: the shapes of the outputs of 'fused' cannot be "
            "inferred; list the outputs under 'tensors'");
}

TEST(ReadFtg, TakesTensorsByNumberOrName) {
  const Graph graph =
      read_ftg(with_node(R"({"op": "linear", "inputs": [0, "w"], "outputs": ["y"]}, )"
                         R"({"op": "relu", "inputs": [3]})"),
               "text");
  EXPECT_EQ(graph.nodes[0].inputs, (std::vector<TensorId>{0, 1}));
  EXPECT_EQ(graph.nodes[1].inputs, (std::vector<TensorId>{3}));
  EXPECT_EQ(graph.tensor(3).name, "y");
  EXPECT_EQ(graph.tensor(4).name, "");
}

TEST(ReadFtg, ReadsSwitchesAsTrueOrOne) {
  const auto node = [](const char* value) {
    return read_ftg(with_node(std::string(
                                  R"({"op": "relu", "inputs": ["x"], "attributes": {"inplace": )") +
                              value + "}}"),
                    "text")
        .nodes[0]
        .attributes;
  };
  EXPECT_EQ(node("true"), node("1"));
  EXPECT_EQ(node("false"), node("[0]"));
}

TEST(ReadFtg, NamesThePlaceOfEveryMistakeInANode) {
  const std::string at = "BadInput: file 'm.ftg.json': node 0: ";
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"({"inputs": ["x"]})", "the field 'op' is missing"},
      {R"({"op": 3})", "the field 'op' must be a string, not number"},
      {R"({"op": "relu", "input": ["x"]})", "unknown field 'input'; did you mean 'inputs'?"},
      {R"({"op": "relu", "inputs": ["xx"]})",
       "no tensor named 'xx' is declared or written by an earlier node; did you mean 'x'?"},
      {R"({"op": "relu", "inputs": [99]})", "there is no tensor 99; there are 3, counted from 0"},
      {R"({"op": "relu", "inputs": [-1]})", "there is no tensor -1; there are 3, counted from 0"},
      {R"({"op": "relu", "inputs": [1.5]})", "a tensor is given by its name or number, not 1.5"},
      {R"({"op": "relu", "inputs": [null]})", "a tensor is given by its name or number, not null"},
      {R"({"op": "relu", "inputs": "x"})", "expected a list, not string"},
      {R"({"op": "relu", "inputs": ["x"], "outputs": ["y", "v"]})",
       "names 2 outputs, but there are 1"},
      {R"({"op": "dropout", "inputs": ["x"], "outputs": ["y", "z"]})",
       "the outputs of a node are either all declared under 'tensors' or all new"},
      {R"({"op": "relu", "phase": "sideways"})",
       "the phase 'sideways' is not one of forward, backward, update, recompute"},
      {R"({"op": "relu", "inputs": ["x"], "attributes": {"kernal": 3}})",
       "unknown attribute 'kernal'; did you mean 'kernel'?"},
      {R"({"op": "relu", "inputs": ["x"], "attributes": {"kernel": 2.5}})",
       "expected a whole number or a product such as \"2*batch\", not 2.5"},
      {R"({"op": "relu", "inputs": ["x"], "attributes": {"kernel": "batch"}})",
       "the attribute 'kernel' must be a number"},
      {R"({"op": "relu", "inputs": ["x"], "attributes": {"of": "nothing"}})",
       "the attribute 'of' has no value \"nothing\""},
      {R"({"op": "relu", "inputs": ["x"], "attributes": {"type": 3}})",
       "the attribute 'type' has no value 3"},
      {R"({"op": "relu", "inputs": ["x"], "attributes": {"axis": 281474976710657}})",
       "the value 281474976710657 lies outside -281474976710656 to 2^48"},
      {R"({"op": "linear", "inputs": ["x", "z"]})",
       "model 'm', node '' (linear): the last dimension differs from the weight's second"},
  };
  for (const auto& [node, problem] : cases) {
    EXPECT_EQ(message(with_node(node)), at + problem);
  }
}

// A file whose tensors are `tensors` and that has no node.
std::string with_tensors(const std::string& tensors) {
  return R"({"format": "foretrain-graph", "version": 1, "tensors": [)" + tensors +
         R"(], "nodes": []})";
}

TEST(ReadFtg, NamesThePlaceOfEveryMistakeInATensor) {
  const std::string at = "BadInput: file 'm.ftg.json': tensor 0: ";
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"({"name": "x"})", "the field 'shape' is missing"},
      {R"({"shape": 3})", "expected a list, not number"},
      {R"({"shape": [1,1,1,1,1,1,1,1,1]})", "has 9 entries; at most 8 are allowed"},
      {R"({"shape": [0]})", "the value 0 lies outside 1 to 2^48"},
      {R"({"shape": [-3]})", "the value -3 lies outside 1 to 2^48"},
      {R"({"shape": [18446744073709551615]})", "the value 281474976710657 lies outside 1 to 2^48"},
      {R"({"shape": [true]})", "a dimension is a number or a product, not true or false"},
      {R"({"shape": ["bach"]})",
       "dimension 'bach' is neither a number nor a product of the symbols"},
      {R"({"shape": [16777216, 16777217]})",
       "a tensor has more than 2^48 elements; use smaller sizes"},
      {R"({"shape": [], "type": "float"})",
       "the type 'float' is not one of f32, f16, bf16, f8, f64, i64, i32, i8, bool"},
      {R"({"shape": [], "role": "weight"})",
       "the role 'weight' is not one of input, activation, parameter, buffer, gradient, "
       "optimizer_state"},
      {R"({"shape": [], "id": 1})", "its 'id' must be its place in the list, counted from 0"},
      {R"({"shape": [], "trainable": 1})",
       "the field 'trainable' must be true or false, not number"},
      {R"([])", "expected a JSON object, not array"},
  };
  for (const auto& [tensor, problem] : cases) {
    EXPECT_EQ(message(with_tensors(tensor)), at + problem);
  }
}

TEST(ReadFtg, RefusesWhatIsNoGraph) {
  const std::string at = "file 'm.ftg.json': ";
  EXPECT_EQ(message(R"({"version": 1, "nodes": []})"),
            "BadInput: " + at + "the field 'format' is missing");
  EXPECT_EQ(message(R"({"format": "onnx", "version": 1, "nodes": []})"),
            "BadInput: " + at + "the field 'format' must be \"foretrain-graph\", not \"onnx\"");
  EXPECT_EQ(message(R"({"format": "foretrain-graph", "version": 2, "nodes": []})"),
            "Unsupported: " + at +
                "version 2 of the graph format is not known; this program reads version 1");
  EXPECT_EQ(message(R"({"format": "foretrain-graph", "version": 1})"),
            "BadInput: " + at + "the field 'nodes' is missing");
  EXPECT_EQ(message("[]"), "BadInput: " + at + "expected a JSON object, not array");
  EXPECT_EQ(
      message(R"({"format": "foretrain-graph", "version": 1, "nodes": [], "symbols": ["2"]})"),
      "BadInput: " + at +
          "symbols: a symbol is a word of letters, digits and '_', such as \"batch\"");
  EXPECT_EQ(
      message(R"({"format": "foretrain-graph", "version": 1, "nodes": [], "symbols": ["a", "a"]})"),
      "BadInput: " + at + "symbols: the symbol 'a' is given twice");
  EXPECT_EQ(
      message(R"({"format": "foretrain-graph", "version": 1, "nodes": [], "loss": "l"})"),
      "BadInput: " + at + "loss: no tensor named 'l' is declared or written by an earlier node");
}

TEST(ReadFtg, FindsCycles) {
  const std::string text = R"({"format": "foretrain-graph", "version": 1, "tensors": [)"
                           R"({"shape": [2]}, {"shape": [2]}], "nodes": [)"
                           R"({"op": "relu", "inputs": [1], "outputs": [0]},)"
                           R"({"op": "relu", "inputs": [0], "outputs": [1]}]})";
  EXPECT_EQ(
      message(text),
      "BadInput: file 'm.ftg.json': model '', node 0 '' (relu): reads tensor 1 before any node "
      "writes it; nodes must be in execution order, without cycles");
}

TEST(ReadFtg, AsksForTheNumberOfATensorWhoseNameIsNotItsOwn) {
  const std::string text = with_node(R"({"op": "relu", "inputs": ["x"]})");
  const std::string twice = R"({"name": "x", "shape": [1], "role": "input"}, )";
  std::string doubled = text;
  doubled.insert(doubled.find(R"({"name": "x")"), twice);
  EXPECT_EQ(message(doubled),
            "BadInput: file 'm.ftg.json': node 0: several tensors are named 'x'; use the tensor's "
            "number");
}

TEST(ReadFtg, BoundsNamesAndLists) {
  const std::string name(1001, 'a');
  EXPECT_NE(message(with_tensors(R"({"shape": [], "name": ")" + name + "\"}"))
                .find("longer than 1000 bytes"),
            std::string::npos);
  std::string values = "1";
  for (int i = 0; i < 64; ++i) values += ",1";
  EXPECT_NE(message(with_node(R"({"op": "relu", "inputs": ["x"], "attributes": {"stride": [)" +
                              values + "]}}"))
                .find("has 65 entries; at most 64 are allowed"),
            std::string::npos);
}

// Whatever is cut off or changed: an Error of one line, or another graph.
TEST(ReadFtg, SurvivesTruncationAndEveryChangedByte) {
  const std::string text = kToy;
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_NE(message(text.substr(0, i)), "none") << i;
    for (const char c : {'\0', '"', '9', '-', '}', '\xff'}) {
      std::string changed = text;
      changed[i] = c;
      EXPECT_EQ(message(changed).find('\n'), std::string::npos);
    }
  }
}

TEST(WriteFtg, KeepsNamesThatNeedEscapes) {
  Builder builder("quote \" backslash \\ newline \n umlaut ä");
  builder.output(builder.add(Kind::Relu, {builder.input("x\ty", {builder.batch()})}));
  builder.note("a note");
  expect_round_trip(builder.finish());
}

TEST(WriteFtg, RefersToParametersByNameThoughTheirStatesHaveIt) {
  const Graph step = update(backward(read_ftg(kToy, "text")), Optimizer::Adam);
  const std::string text = write_ftg(step);
  EXPECT_NE(
      text.find(R"({"op": "linear", "inputs": ["x", "fc1.weight", "fc1.bias"], "outputs": ["h"]})"),
      std::string::npos);
  EXPECT_NE(text.find(R"("attributes": {"optimizer": "adam"})"), std::string::npos);
}

TEST(WriteFtg, RoundTripsEveryAttribute) {
  Builder builder("m");
  Attributes attributes;
  for (const std::string& name : attr_names()) {
    attributes.set(*attr_named(name), {Dim(1), Dim(2)});
  }
  attributes.set(Attr::Shape, {Dim(3) * builder.batch(), Dim(-1)});
  attributes.set(Attr::Sizes, {});
  builder.output(builder.add(Kind::Relu, {builder.input("x", {builder.batch()})}, attributes));
  expect_round_trip(builder.finish());
}

}  // namespace
}  // namespace foretrain::importer
