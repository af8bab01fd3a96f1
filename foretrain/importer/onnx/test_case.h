// SPDX-License-Identifier: Apache-2.0
// One operator at a time: a file with one node.
#pragma once

#include <gtest/gtest.h>

#include <ostream>

#include "foretrain/graph/backward.h"
#include "foretrain/graph/passes.h"
#include "foretrain/importer/onnx/test_graph.h"
#include "foretrain/importer/onnx/wire.h"

namespace foretrain::importer::testing {

// The result of one node on an input called x.
struct Case {
  std::string op;
  std::vector<Size> x;
  std::vector<std::string> attributes;
  std::vector<std::string> stored;  // tensors that follow x as inputs
  std::string shape;
  graph::Kind kind;
  std::int64_t parameters = 0;
  std::string domain = "";
  int opset = 17;
};

inline void PrintTo(const Case& one, std::ostream* stream) {
  *stream << one.op;
}  // NOLINT: GoogleTest's name

inline std::string name_of(const std::string& tensor) {
  for (WireReader in(tensor, tensor.data()); in.next();) {
    if (in.field() == 8) return std::string(in.bytes());
  }
  return "";
}

inline graph::Graph run(const Case& one) {
  File file;
  file.opset(one.opset).input("x", one.x);
  Names inputs{"x"};
  for (const std::string& tensor : one.stored) {
    file.stored(tensor);
    inputs.push_back(name_of(tensor));
  }
  file.run(one.op, inputs, {"y"}, one.attributes, "n", one.domain).output("y");
  return read(file);
}

inline std::string weight(const std::string& name, const Numbers& dims) {
  return tensor(name, kFloat, dims);
}

inline const std::vector<Size> kImage{"batch", 4, 9, 9};
inline const std::vector<Size> kTokens{"batch", 5, 8};

// Checks shape, kind and number of parameters, and that a backward pass is well formed.
inline void check(const Case& one) {
  const graph::Graph graph = run(one);
  EXPECT_EQ(output(graph), one.shape);
  EXPECT_EQ(graph::parameter_count(graph), one.parameters);
  EXPECT_GE(count(graph, one.kind), 1);
  EXPECT_NO_THROW(graph::verify(graph::backward(graph)));
}

}  // namespace foretrain::importer::testing
