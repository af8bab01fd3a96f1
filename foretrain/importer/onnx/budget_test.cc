// SPDX-License-Identifier: Apache-2.0
// Files of a few kilobytes that stand for billions of things. Each is refused by the one budget,
// long before it has taken the memory or the time that it asks for.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <functional>

#include "foretrain/importer/onnx/test_graph.h"

namespace foretrain::importer {
namespace {

using namespace testing;  // NOLINT: this file is about files

double processor_s() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// A body of a loop that carries v, with the nodes that `more` adds.
std::string body(const std::function<File(File)>& more, const std::string& result) {
  File file = File().input("i", {}, kInt64).input("c", {}, kBool).input("v", {"batch", 4});
  return more(file).output("c").output(result).graph();
}

// Runs the body `rounds` times, `rounds` times over.
File twice_looped(const std::function<File(File)>& more, const std::string& result = "v") {
  const auto inner = [&](File file) {
    return file.run("Loop", {"rounds", "", "v"}, {"u"},
                    {graph_attribute("body", body(more, result))});
  };
  return File()
      .input("x", {"batch", 4})
      .stored(scalar_integer("rounds", 4096))
      .run("Loop", {"rounds", "", "x"}, {"y"}, {graph_attribute("body", body(inner, "u"))})
      .run("Relu", {"y"}, {"z"})
      .output("z");
}

// Refused within the seconds and bytes that a small file may take; sanitizers take ten times as
// long.
void expect_refused(const File& file) {
  ASSERT_LT(file.bytes().size(), 10'000U);
  const double begin = processor_s();
  const long before_kib = peak_memory_kib();
  const std::string error = message(file);
  EXPECT_NE(error.find("stand for too much"), std::string::npos) << error;
  EXPECT_LT(processor_s() - begin, 20);
  EXPECT_LT(peak_memory_kib() - before_kib, 1'000'000);
}

TEST(OnnxBudget, BoundsLoopsOfNothing) {
  expect_refused(twice_looped([](File file) { return file; }));
}

TEST(OnnxBudget, BoundsCopiesOfInitializers) {
  expect_refused(twice_looped([](File file) { return file.list("k", Numbers(1000, 7)); }));
}

TEST(OnnxBudget, BoundsShapes) {
  expect_refused(twice_looped(
      [](File file) {
        return file.run("Shape", {"v"}, {"s"}).run("Reshape", {"v", "s"}, {"r"});
      },
      "r"));
}

TEST(OnnxBudget, BoundsListsOfAttributes) {
  const std::string pads = attribute("pads", Numbers(2000, 1));
  expect_refused(
      twice_looped([&](File file) { return file.run("Identity", {"v"}, {"r"}, {pads}); }, "r"));
}

// 65,000 parts in each of 16 million rounds.
TEST(OnnxBudget, BoundsParts) {
  const auto split = [](File file) {
    return file.weight("w", {65'000})
        .run("SplitToSequence", {"w"}, {"q"}, {attribute("keepdims", 0)});
  };
  expect_refused(twice_looped(split));
}

// 1000 times (batch + s)^4, of five terms each, times another one: 25,000 products of terms in each
// of 4096 rounds.
TEST(OnnxBudget, BoundsSumsOfSymbols) {
  const std::vector<Size> sizes{"batch", "s"};
  File inner = File().input("i", {}, kInt64).input("c", {}, kBool).input("v", sizes);
  inner.run("Mul", {"wide", "fourth"}, {"m"}).output("c").output("v");
  File file = File().input("x", sizes).stored(scalar_integer("rounds", 4096));
  file.stored(tensor("many", kInt64, {1000}, raw(Numbers(1000, 1))))
      .run("Shape", {"x"}, {"shape"})
      .run("ReduceSum", {"shape"}, {"sum"}, {attribute("keepdims", 1)})
      .run("Mul", {"sum", "sum"}, {"square"})
      .run("Mul", {"square", "square"}, {"fourth"})
      .run("Mul", {"fourth", "many"}, {"wide"})
      .run("Loop", {"rounds", "", "x"}, {"y"}, {graph_attribute("body", inner.graph())})
      .run("Relu", {"y"}, {"z"})
      .output("z");
  expect_refused(file);
}

// An LSTM of 1000 steps that its exporter has left as a loop is nothing of the kind.
TEST(OnnxBudget, LeavesRoomForLoopsThatAreMeant) {
  const auto step = [](File file) {
    return file.run("MatMul", {"v", "w"}, {"a"})
        .run("Tanh", {"a"}, {"b"})
        .run("Add", {"b", "v"}, {"r"});
  };
  const File file =
      File()
          .input("x", {"batch", 4})
          .weight("w", {4, 4})
          .stored(scalar_integer("rounds", 1000))
          .run("Loop", {"rounds", "", "x"}, {"y"}, {graph_attribute("body", body(step, "r"))})
          .output("y");
  EXPECT_EQ(read(file).nodes.size(), 3000U);
}

}  // namespace
}  // namespace foretrain::importer
