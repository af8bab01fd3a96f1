// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/dot.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "foretrain/graph/backward.h"
#include "foretrain/graph/builder.h"

namespace foretrain::graph {
namespace {

Graph model(const std::string& layer) {
  Builder builder("m");
  const TensorId x = builder.input("x", {builder.batch(), 3});
  const Scope outer(builder, layer);
  const Scope inner(builder, "fc");
  const TensorId h = builder.add(Kind::Linear, {x, builder.parameter("weight", {4, 3})});
  builder.output(builder.add(Kind::Relu, {h}));
  return builder.finish();
}

TEST(ToDot, DrawsNodesInClustersAndEdgesBetweenThem) {
  EXPECT_EQ(to_dot(model("layer1")),
            "digraph \"m\" {\n"
            "  rankdir=TB;\n"
            "  node [shape=box];\n"
            "  t0 [shape=ellipse, label=\"x\\n[batch, 3]\"];\n"
            "  subgraph cluster_0 {\n"
            "    label=\"layer1\";\n"
            "    n0 [label=\"linear\\n[batch, 4]\", tooltip=\"layer1.fc\"];\n"
            "    n1 [label=\"relu\\n[batch, 4]\", tooltip=\"layer1.fc\"];\n"
            "  }\n"
            "  t0 -> n0;\n"
            "  n0 -> n1;\n"
            "}\n");
}

TEST(ToDot, EscapesNames) {
  const std::string dot = to_dot(model("a\"b\\c\nd"));
  EXPECT_NE(dot.find("label=\"a\\\"b\\\\c"), std::string::npos);
  EXPECT_EQ(std::count(dot.begin(), dot.end(), '\n'), 12);  // as above: no line is broken
}

TEST(ToDot, SaysWhichPhaseAClusterIs) {
  EXPECT_NE(to_dot(backward(model("l"))).find("label=\"l (backward)\""), std::string::npos);
}

}  // namespace
}  // namespace foretrain::graph
