// SPDX-License-Identifier: Apache-2.0
// Symbols and their values, operators that are not known, and files that are no models.
#include <gtest/gtest.h>

#include "foretrain/importer/onnx/test_graph.h"

namespace foretrain::importer {
namespace {

using namespace testing;  // NOLINT: this file is about files
using graph::Graph;
using graph::Kind;

File convolution() {
  return File()
      .input("image", {"N", 3, "height", "width"})
      .weight("w", {8, 3, 3, 3})
      .run("Conv", {"image", "w"}, {"y"}, {attribute("strides", Numbers{2, 2})}, "stem")
      .output("y");
}

TEST(OnnxSymbols, ValuesFixOpenSizes) {
  const Graph graph = read(convolution(), {{"height", 33}, {"width", 65}});
  EXPECT_EQ(output(graph), "[batch, 8, 16, 32]");
  EXPECT_EQ(graph.symbols, std::vector<std::string>{"batch"});
}

TEST(OnnxSymbols, AWindowNeedsANumberAndSaysSo) {
  const std::string error = message(convolution());
  EXPECT_EQ(error.find("BadInput: test: node 'stem' (Conv): a window changes an axis"), 0U)
      << error;
  EXPECT_NE(error.find("model.onnx:height=NUMBER"), std::string::npos) << error;
}

TEST(OnnxSymbols, AValueForNothingIsAnError) {
  const std::string error = message(convolution(), {{"heigth", 3}});
  EXPECT_NE(error.find("no size of the inputs is called 'heigth'; did you mean 'height'"),
            std::string::npos)
      << error;
  EXPECT_NE(message(convolution(), {{"height", 0}}).find("must be between 1"), std::string::npos);
}

TEST(OnnxSymbols, TheBatchIsFoundByNameBeforePlace) {
  const Graph graph =
      read(File().input("x", {"steps", "batch_size", 8}).run("Relu", {"x"}, {"y"}).output("y"));
  EXPECT_EQ(output(graph), "[steps, batch, 8]");
}

TEST(OnnxSymbols, TheFirstOpenLeadingDimensionIsTheBatch) {
  const Graph graph = read(File()
                               .input("x", {"s0", "s1"})
                               .input("z", {"s0", 1})
                               .run("Mul", {"x", "z"}, {"y"})
                               .output("y"));
  EXPECT_EQ(output(graph), "[batch, s1]");
  EXPECT_TRUE(has_note(graph, "the size 's1' is open"));
}

TEST(OnnxSymbols, ExpressionsOfNamesAreProducts) {
  const Graph graph = read(File()
                               .input("x", {"batch", "seq"})
                               .input("z", {"batch", "2*seq"})
                               .run("Concat", {"x", "z"}, {"y"}, {attribute("axis", 1)})
                               .output("y"));
  EXPECT_EQ(output(graph), "[batch, 3*seq]");
}

TEST(OnnxSymbols, FourAreTheMost) {
  const std::string error = message(
      File().input("x", {"batch", "a", "b", "c", "d"}).run("Relu", {"x"}, {"y"}).output("y"));
  EXPECT_EQ(error.find("Unsupported: test: the inputs have more than four open sizes"), 0U)
      << error;
}

TEST(OnnxErrors, AnUnknownOperatorOfKnownShapeIsOpaque) {
  const Graph graph = read(File()
                               .input("x", {"batch", 4})
                               .stated("m", {"batch", 7})
                               .run("Mystery", {"x"}, {"m"}, {}, "", "acme")
                               .run("Relu", {"m"}, {"y"})
                               .output("y"));
  EXPECT_EQ(output(graph), "[batch, 7]");
  EXPECT_EQ(graph.nodes[0].kind, Kind::Opaque);
  EXPECT_EQ(graph.nodes[0].label, "Mystery");
  EXPECT_TRUE(has_note(graph, "opaque operators: Mystery x1"));
}

TEST(OnnxErrors, AnUnknownOperatorOfUnknownShapeIsAnError) {
  const std::string error =
      message(File().input("x", {"batch", 4}).run("Reluu", {"x"}, {"y"}, {}, "act").output("y"));
  EXPECT_EQ(error.find(
                "Unsupported: test: node 'act' (Reluu): the operator 'ai.onnx.Reluu' is not known"),
            0U)
      << error;
  EXPECT_NE(error.find("did you mean 'Relu'"), std::string::npos) << error;
}

TEST(OnnxErrors, ShapesMustNotDependOnData) {
  const std::string error = message(File()
                                        .input("x", {"batch", 4})
                                        .input("s", {2}, kInt64)
                                        .run("Reshape", {"x", "s"}, {"y"}, {}, "r")
                                        .output("y"));
  EXPECT_EQ(error.find("Unsupported: test: node 'r' (Reshape): input 1 ('s') is not known"), 0U)
      << error;
  const std::string places =
      message(File().input("x", {"batch", 4}).run("NonZero", {"x"}, {"y"}, {}, "n").output("y"));
  EXPECT_NE(places.find("its result depends on data"), std::string::npos) << places;
}

TEST(OnnxErrors, NodesMustBeInOrder) {
  const std::string error = message(File()
                                        .input("x", {"batch", 4})
                                        .run("Add", {"x", "b"}, {"a"}, {}, "first")
                                        .run("Relu", {"a"}, {"b"})
                                        .output("b"));
  EXPECT_EQ(error.find("BadInput: test: node 'first' (Add): reads 'b' before any node writes it"),
            0U)
      << error;
}

TEST(OnnxErrors, NamesAreWrittenOnce) {
  const std::string error = message(File()
                                        .input("x", {"batch", 4})
                                        .run("Relu", {"x"}, {"y"}, {}, "one")
                                        .run("Tanh", {"x"}, {"y"}, {}, "two")
                                        .output("y"));
  EXPECT_EQ(error, "BadInput: test: node 'two' (Tanh): writes 'y', which is there already");
  EXPECT_NE(message(File().weight("w", {2}).weight("w", {2}).run("Relu", {"w"}, {"y"}).output("y"))
                .find("two initializers are named 'w'"),
            std::string::npos);
}

TEST(OnnxErrors, EveryPrefixOfAFileIsRefused) {
  const std::string bytes = convolution().bytes();
  const graph::Binding sizes{{"height", 33}, {"width", 65}};
  const std::size_t graph_end = bytes.rfind("com.microsoft");  // what follows may be left out
  for (std::size_t length = 0; length + 20 < graph_end; ++length) {
    EXPECT_NE(message(bytes.substr(0, length), sizes), "none") << length;
  }
}

TEST(OnnxErrors, OtherFilesAreRefusedInOneLine) {
  for (const std::string content : {"", "{}", "PK\x03\x04", "not a model at all", "\x08\x08"}) {
    const std::string error = message(content);
    EXPECT_EQ(error.find("BadInput: test: "), 0U) << error;
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
  EXPECT_FALSE(is_onnx("{\"format\""));
}

TEST(OnnxErrors, OldOperatorSetsAreRefused) {
  const std::string error = message(convolution().opset(6), {{"height", 33}, {"width", 65}});
  EXPECT_EQ(error, "Unsupported: test: operator set 6 is older than 7; convert the model first");
}

TEST(OnnxErrors, AbsurdSizesAreRefused) {
  EXPECT_NE(message(File()
                        .input("x", {"batch", 2147483647, 2147483647})
                        .run("Relu", {"x"}, {"y"})
                        .output("y")),
            "none");
  EXPECT_NE(message(File()
                        .input("x", {"batch", 3, 8, 8})
                        .weight("w", {8, 3, 3, 3})
                        .run("Conv", {"x", "w"}, {"y"}, {attribute("strides", Numbers{0, 0})})
                        .output("y")),
            "none");
}

// An empty node takes two bytes of a file.
TEST(OnnxErrors, AMillionNodesAreTheMost) {
  std::string nodes;
  for (int i = 0; i < 1'000'001; ++i) nodes += text(1, "");
  EXPECT_NE(message(number(1, 8) + text(7, nodes)).find("there are more than 1,000,000 nodes"),
            std::string::npos);
}

// Time that grew with the square of their number would be minutes.
TEST(OnnxErrors, ManyInputsAndOutputsAreNoProblem) {
  constexpr int kMany = 20'000;
  File file = File().input("x", {"batch", kMany});
  Names weights;
  for (int i = 0; i < kMany; ++i) weights.push_back("w" + std::to_string(i));
  for (const std::string& name : weights) file.weight(name, {1, 4});
  file.run("Concat", weights, {"w"}, {attribute("axis", 0)}).run("MatMul", {"x", "w"}, {"y"});
  for (int i = 0; i < kMany; ++i) {
    const std::string name = "y" + std::to_string(i);
    file.run("Relu", {"y"}, {name}).output(name);
  }
  EXPECT_EQ(read(file).outputs.size(), std::size_t{kMany});
}

TEST(OnnxErrors, GraphsInsideGraphsHaveABottom) {
  std::string graph;
  for (int depth = 0; depth < 40; ++depth) {
    graph = text(1, node("If", {"x"}, {"y"}, {graph_attribute("then_branch", graph)}));
  }
  EXPECT_NE(message(number(1, 8) + text(7, graph)).find("graphs are nested more than 32 deep"),
            std::string::npos);
}

TEST(OnnxErrors, AMissingFileIsIo) {
  try {
    read_onnx(std::filesystem::path("no/such/model.onnx"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Io);
  }
}

}  // namespace
}  // namespace foretrain::importer
