// SPDX-License-Identifier: Apache-2.0
// Shapes that the file computes, branches and loops that it resolves.
#include <gtest/gtest.h>

#include "foretrain/importer/onnx/scalar.h"
#include "foretrain/importer/onnx/test_graph.h"

namespace foretrain::importer {
namespace {

using namespace testing;  // NOLINT: this file is about files
using graph::Graph;
using graph::Kind;

TEST(OnnxScalar, SumsOfSymbolsCancel) {
  const Scalar seq(graph::symbol(1));
  const Scalar past(graph::symbol(2));
  const Scalar both = *add(seq, past);
  EXPECT_FALSE(both.dim().has_value());
  EXPECT_EQ(subtract(both, past), seq);
  EXPECT_EQ(divide(*multiply(both, seq), seq, true), both);
  EXPECT_EQ(divide(*multiply(seq, Scalar(6)), Scalar(4), true), std::nullopt);
}

// Symbols are at least 1, which decides some comparisons and leaves others open.
TEST(OnnxScalar, ComparesWhereEverySizeAgrees) {
  const Scalar seq(graph::symbol(1));
  EXPECT_EQ(equal(seq, Scalar(-1)), false);
  EXPECT_EQ(equal(seq, Scalar(2)), std::nullopt);
  EXPECT_EQ(less(Scalar(0), seq), true);
  EXPECT_EQ(less(seq, Scalar(1)), false);
  EXPECT_EQ(less(seq, Scalar(5)), std::nullopt);
}

TEST(OnnxScalar, RealsThatAreWholeAreSizes) {
  EXPECT_EQ(round_scalar(Scalar::from_real(6.9), Rounding::Down)->integer(), 6);
  EXPECT_EQ(multiply(Scalar(graph::symbol(0)), Scalar::from_real(2.0))->dim(),
            graph::symbol(0) * 2);
  EXPECT_EQ(multiply(Scalar(graph::Dim(4) * graph::symbol(0)), Scalar::from_real(0.5))->dim(),
            graph::symbol(0) * 2);
  EXPECT_EQ(divide(Scalar(1), Scalar(0), true), std::nullopt);
  EXPECT_EQ(divide(Scalar(-7), Scalar(2), true), Scalar(-3));
  EXPECT_EQ(modulo(Scalar(-7), Scalar(2), false), Scalar(1));
}

// x.view(x.size(0), x.size(1), heads, x.size(2) // heads) as exporters write it.
TEST(OnnxFold, FollowsTheShapeThroughAReshape) {
  const Graph graph =
      read(File()
               .input("x", {"batch", "seq", 24})
               .stored(scalar_integer("0", 0))
               .stored(scalar_integer("1", 1))
               .stored(scalar_integer("2", 2))
               .stored(scalar_integer("heads", 4))
               .list("front", {0})
               .list("heads_list", {4})
               .run("Shape", {"x"}, {"s"})
               .run("Gather", {"s", "0"}, {"b"})
               .run("Gather", {"s", "1"}, {"t"})
               .run("Gather", {"s", "2"}, {"w"})
               .run("Div", {"w", "heads"}, {"d"})
               .run("Cast", {"d"}, {"d7"}, {attribute("to", 7)})
               .run("Unsqueeze", {"b", "front"}, {"b1"})
               .run("Unsqueeze", {"t", "front"}, {"t1"})
               .run("Unsqueeze", {"d7", "front"}, {"d1"})
               .run("Concat", {"b1", "t1", "heads_list", "d1"}, {"target"}, {attribute("axis", 0)})
               .run("Reshape", {"x", "target"}, {"y"})
               .output("y"));
  EXPECT_EQ(output(graph), "[batch, seq, 4, 6]");
  EXPECT_EQ(kinds(graph), std::vector<Kind>{Kind::Reshape});
  EXPECT_EQ(graph.symbols, (std::vector<std::string>{"batch", "seq"}));
}

// expand(batch, -1, -1): -1 is replaced by Where(Equal(shape, -1), ones, shape).
TEST(OnnxFold, ResolvesTheShapeOfAnExpand) {
  const Graph graph = read(File()
                               .input("x", {"batch", 4, 8})
                               .weight("cls", {1, 1, 8})
                               .list("begin", {0})
                               .list("end", {1})
                               .list("rest", {-1, -1})
                               .list("three", {3})
                               .stored(scalar_integer("minus", -1))
                               .run("Shape", {"x"}, {"s"})
                               .run("Slice", {"s", "begin", "end", "begin"}, {"b"})
                               .run("Concat", {"b", "rest"}, {"wanted"}, {attribute("axis", 0)})
                               .run("ConstantOfShape", {"three"}, {"ones"},
                                    {tensor_attribute("value", integers("", {1}))})
                               .run("Mul", {"ones", "minus"}, {"minuses"})
                               .run("Equal", {"wanted", "minuses"}, {"open"})
                               .run("Where", {"open", "ones", "wanted"}, {"target"})
                               .run("Expand", {"cls", "target"}, {"wide"})
                               .run("Concat", {"wide", "x"}, {"y"}, {attribute("axis", 1)})
                               .output("y"));
  EXPECT_EQ(output(graph), "[batch, 5, 8]");
  EXPECT_EQ(kinds(graph), (std::vector<Kind>{Kind::Expand, Kind::Concat}));
}

// Positions of a sequence of open length, and a mask over it, are constants.
TEST(OnnxFold, WhatOnlyDependsOnShapesIsConstant) {
  const Graph graph = read(File()
                               .input("ids", {"batch", "seq"}, kInt64)
                               .weight("wpe", {64, 8})
                               .stored(scalar_integer("0", 0))
                               .stored(scalar_integer("1", 1))
                               .run("Shape", {"ids"}, {"s"}, {attribute("start", 1)})
                               .run("Squeeze", {"s"}, {"t"})
                               .run("Range", {"0", "t", "1"}, {"positions"})
                               .run("Gather", {"wpe", "positions"}, {"e"})
                               .run("Relu", {"e"}, {"y"})
                               .output("y"));
  EXPECT_EQ(output(graph), "[seq, 8]");
  EXPECT_EQ(kinds(graph), (std::vector<Kind>{Kind::Embedding, Kind::Relu}));
  EXPECT_EQ(count_role(graph, graph::Role::Buffer), 1);
}

// Range(past, past + seq) is as long as seq.
TEST(OnnxFold, DifferencesOfSymbolsCancel) {
  const Graph graph = read(File()
                               .input("ids", {"batch", "seq"}, kInt64)
                               .input("past", {"batch", "before"}, kInt64)
                               .weight("wpe", {64, 8})
                               .stored(scalar_integer("1", 1))
                               .run("Shape", {"ids"}, {"s"}, {attribute("start", 1)})
                               .run("Shape", {"past"}, {"p"}, {attribute("start", 1)})
                               .run("Squeeze", {"s"}, {"length"})
                               .run("Squeeze", {"p"}, {"start"})
                               .run("Add", {"start", "length"}, {"end"})
                               .run("Range", {"start", "end", "1"}, {"positions"})
                               .run("Gather", {"wpe", "positions"}, {"y"})
                               .output("y"));
  EXPECT_EQ(output(graph), "[seq, 8]");
}

TEST(OnnxFold, ScalesThatAreComputedResize) {
  const Graph graph = read(File()
                               .input("x", {"batch", 3, 8, 8})
                               .list("front", {1, 1})
                               .list("two", {2})
                               .list("four", {4})
                               .list("zero", {0})
                               .stored(tensor("half", kFloat, {1}, raw(std::vector<float>{0.5F})))
                               .run("Shape", {"x"}, {"s"})
                               .run("Slice", {"s", "two", "four", "zero"}, {"space"})
                               .run("Slice", {"s", "zero", "two", "zero"}, {"lead"})
                               .run("Cast", {"space"}, {"real"}, {attribute("to", 1)})
                               .run("Mul", {"real", "half"}, {"scaled"})
                               .run("Floor", {"scaled"}, {"floored"})
                               .run("Cast", {"floored"}, {"whole"}, {attribute("to", 7)})
                               .run("Concat", {"lead", "whole"}, {"sizes"}, {attribute("axis", 0)})
                               .run("Resize", {"x", "", "", "sizes"}, {"y"})
                               .output("y"));
  EXPECT_EQ(output(graph), "[batch, 3, 4, 4]");
}

File branching(const std::string& condition) {
  const std::string then_graph = File().run("Relu", {"x"}, {"t"}).output("t").graph();
  const std::string else_graph = File().run("Tanh", {"x"}, {"e"}).output("e").graph();
  return File()
      .input("x", {"batch", 4})
      .input("flag", {1}, kBool)
      .stored(scalar_integer("four", 4))
      .stored(scalar_integer("one", 1))
      .run("Shape", {"x"}, {"s"})
      .run("Gather", {"s", "one"}, {"width"})
      .run("Equal", {"width", "four"}, {"known"})
      .run("If", {condition}, {"y"},
           {graph_attribute("then_branch", then_graph), graph_attribute("else_branch", else_graph)},
           "choice")
      .output("y");
}

TEST(OnnxControl, TakesTheBranchThatShapesDecide) {
  EXPECT_EQ(kinds(read(branching("known"))), std::vector<Kind>{Kind::Relu});
}

TEST(OnnxControl, RefusesABranchThatDataDecide) {
  const std::string error = message(branching("flag"));
  EXPECT_EQ(error.find("Unsupported: test: node 'choice' (If): which branch is taken"), 0U)
      << error;
}

TEST(OnnxControl, UnrollsALoopOfKnownLength) {
  const std::string body = File()
                               .input("i", {}, kInt64)
                               .input("go", {}, kBool)
                               .input("h", {"batch", 4})
                               .run("Identity", {"go"}, {"next"})
                               .run("MatMul", {"h", "w"}, {"out"})
                               .run("Identity", {"out"}, {"seen"})
                               .output("next")
                               .output("out")
                               .output("seen")
                               .graph();
  const Graph graph =
      read(File()
               .input("x", {"batch", 4})
               .weight("w", {4, 4})
               .stored(scalar_integer("three", 3))
               .run("Loop", {"three", "", "x"}, {"last", "all"}, {graph_attribute("body", body)})
               .output("last")
               .output("all"));
  EXPECT_EQ(count(graph, Kind::Linear), 3);
  EXPECT_EQ(graph::parameter_count(graph), 16);
  EXPECT_EQ(output(graph, 0), "[batch, 4]");
  EXPECT_EQ(output(graph, 1), "[3, batch, 4]");
}

std::string function(const std::string& name, const std::string& nodes) {
  return text(1, name) + text(4, "a") + text(4, "b") + text(5, "r") + text(6, "to") + nodes +
         text(9, number(2, 17)) + text(10, "local");
}

TEST(OnnxControl, InlinesFunctionsWithTheirAttributes) {
  const std::string body = text(7, node("Cast", {"a"}, {"c"}, {argument("to", "to")})) +
                           text(7, node("Add", {"c", "b"}, {"r"}, {}, "plus"));
  const Graph graph =
      read(File()
               .input("x", {"batch", 4}, kInt64)
               .weight("w", {3, 4, 4})
               .weight("v", {4})
               .function(function("cast_add", body))
               .run("cast_add", {"x", "v"}, {"y"}, {attribute("to", 1)}, "/layer/call", "local")
               .output("y"));
  EXPECT_EQ(kinds(graph), (std::vector<Kind>{Kind::Cast, Kind::Add}));
  EXPECT_EQ(graph.tensor(graph.outputs[0]).type, DType::F32);
  EXPECT_EQ(graph.nodes[1].scope, "layer.plus");
}

TEST(OnnxControl, RefusesAFunctionThatCallsItself) {
  const std::string f = function("f", text(7, node("g", {"a", "b"}, {"r"}, {}, "", "local")));
  const std::string g = function("g", text(7, node("f", {"a", "b"}, {"r"}, {}, "inner", "local")));
  const std::string error = message(File()
                                        .input("x", {"batch", 4})
                                        .function(f)
                                        .function(g)
                                        .run("f", {"x", "x"}, {"y"}, {}, "n", "local")
                                        .output("y"));
  EXPECT_NE(error.find("the function 'f' calls itself"), std::string::npos) << error;
}

// Forty functions that each call the next twice would be 2^40 nodes.
TEST(OnnxControl, BoundsWhatFunctionsGrowTo) {
  File file = File().input("x", {"batch", 4});
  for (int i = 0; i < 40; ++i) {
    const std::string next = i == 39 ? "Relu" : "f" + std::to_string(i + 1);
    const std::string domain = i == 39 ? "" : "local";
    const Names inputs = i == 39 ? Names{"a"} : Names{"a", "b"};
    file.function(
        function("f" + std::to_string(i), text(7, node(next, inputs, {"m"}, {}, "", domain)) +
                                              text(7, node(next, inputs, {"r"}, {}, "", domain))));
  }
  const std::string error = message(file.run("f0", {"x", "x"}, {"y"}, {}, "", "local").output("y"));
  EXPECT_NE(error.find("stand for too much"), std::string::npos) << error;
}

// 4000 rounds of a body in which a branch of 20,000 nodes is never taken.
TEST(OnnxControl, BoundsHowOftenABodyIsGoneThrough) {
  File large;
  for (int i = 0; i < 20'000; ++i) large.run("Relu", {"v"}, {"r" + std::to_string(i)});
  const File small = File().run("Relu", {"v"}, {"s"}).output("s");
  const File body = File()
                        .input("i", {}, kInt64)
                        .input("c", {}, kInt64)
                        .input("v", {"batch", 4})
                        .run("If", {"no"}, {"u"},
                             {graph_attribute("then_branch", large.output("r0").graph()),
                              graph_attribute("else_branch", small.graph())})
                        .run("Identity", {"c"}, {"k"})
                        .output("k")
                        .output("u");
  const std::string error =
      message(File()
                  .input("x", {"batch", 4})
                  .stored(scalar_integer("rounds", 4000))
                  .stored(scalar_integer("no", 0))
                  .run("Loop", {"rounds", "", "x"}, {"y"}, {graph_attribute("body", body.graph())})
                  .output("y"));
  EXPECT_NE(error.find("stand for too much"), std::string::npos) << error;
}

}  // namespace
}  // namespace foretrain::importer
