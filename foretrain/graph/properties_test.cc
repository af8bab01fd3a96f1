// SPDX-License-Identifier: Apache-2.0
// Laws that hold for whatever operators a model combines.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "foretrain/graph/backward.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"
#include "foretrain/graph/test_graphs.h"
#include "foretrain/graph/test_work.h"

namespace foretrain::graph {
namespace {

constexpr unsigned kGraphs = 200;

Graph any_graph(unsigned seed) {
  std::mt19937 random(seed);
  return AnyGraph([&random](std::size_t below) { return random() % below; }).make();
}

Work total(const Graph& graph) { return total_work(graph, 3); }

template <typename Check>
void for_any_graph(const Check& check) {
  for (unsigned seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    check(any_graph(seed));
  }
}

TEST(AnyGraph, CombinesAllOperators) {
  std::set<Kind> seen;
  for_any_graph([&](const Graph& graph) {
    EXPECT_NO_THROW(verify(graph));
    for (const Node& node : graph.nodes) seen.insert(node.kind);
  });
  for (int k = 0; k < kKinds; ++k) {
    const auto kind = static_cast<Kind>(k);
    if (op(kind).infer != infer_given) {
      EXPECT_TRUE(seen.contains(kind)) << op(kind).name;
    }
  }
}

TEST(AnyGraph, HasAWellFormedBackwardPass) {
  for_any_graph([](const Graph& graph) {
    for (const GradientHandling handling :
         {GradientHandling::Fresh, GradientHandling::Accumulate}) {
      const Graph step = update(backward(graph, handling), Optimizer::Adam);
      EXPECT_NO_THROW(verify(step));
      for (const auto& [parameter, gradient] : step.gradients) {
        EXPECT_EQ(step.tensor(gradient).type, step.tensor(parameter).type);
      }
    }
  });
}

// At most two GEMMs backward for each one forward; attention computes its scores again.
TEST(AnyGraph, ComputesAtMostTwoAndAHalfTimesAsMuchBackward) {
  for_any_graph([](const Graph& graph) {
    EXPECT_LE(total(backward(graph)).flops, 3.5 * total(graph).flops * (1 + 1e-12));
  });
}

TEST(AnyGraph, KeepsItsProductsThroughEveryPass) {
  for_any_graph([](const Graph& graph) {
    const double flops = total(graph).flops;
    const Graph expanded = expand_attention(graph);
    EXPECT_NO_THROW(verify(expanded));
    EXPECT_DOUBLE_EQ(total(expanded).flops, flops);
    for (const Casting casting : {Casting::Automatic, Casting::WholeModel}) {
      const Graph half = set_precision(expanded, Precision::Fp16, casting);
      EXPECT_NO_THROW(verify(half));
      EXPECT_DOUBLE_EQ(total(half).flops, flops);
    }
    const Graph inference = for_inference(graph);
    EXPECT_NO_THROW(verify(inference));
    EXPECT_LE(total(inference).flops, flops);
  });
}

TEST(AnyGraph, WritesNoMoreWhenFused) {
  for_any_graph([](const Graph& graph) {
    const Graph step = update(backward(graph), Optimizer::Adam);
    for (const Fusion fusion : {Fusion::NormActivation, Fusion::Pointwise}) {
      const Graph fused = fuse(step, fusion);
      EXPECT_NO_THROW(verify(fused));
      EXPECT_LE(fused.nodes.size(), step.nodes.size());
      EXPECT_DOUBLE_EQ(total(fused).flops, total(step).flops);
      EXPECT_LE(total(fused).written_bytes, total(step).written_bytes);
    }
  });
}

TEST(AnyGraph, TrainsOnlyWhatIsAsked) {
  for_any_graph([](const Graph& graph) {
    for (const char* what : {"head", "lora:rank=2"}) {
      const Graph step = backward(set_trainable(graph, parse_trainable(what)));
      EXPECT_NO_THROW(verify(step));
      for (const auto& [parameter, gradient] : step.gradients) {
        EXPECT_TRUE(step.tensor(parameter).trainable);
      }
    }
  });
}

}  // namespace
}  // namespace foretrain::graph
