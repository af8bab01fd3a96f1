// SPDX-License-Identifier: Apache-2.0
// Built-in models, and drawn ones, through all passes and through a file.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "foretrain/graph/backward.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"
#include "foretrain/importer/ftg.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain {
namespace {

using graph::Graph;

bool same(const graph::Tensor& a, const graph::Tensor& b) {
  return a.name == b.name && a.shape == b.shape && a.type == b.type && a.role == b.role &&
         a.trainable == b.trainable;
}

bool same(const graph::Node& a, const graph::Node& b) {
  return a.kind == b.kind && a.phase == b.phase && a.inputs == b.inputs && a.outputs == b.outputs &&
         a.attributes == b.attributes && a.scope == b.scope && a.label == b.label;
}

template <typename T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  bool equal = a.size() == b.size();
  for (std::size_t i = 0; equal && i < a.size(); ++i) equal = same(a[i], b[i]);
  return equal;
}

bool same(const Graph& a, const Graph& b) {
  return a.name == b.name && a.symbols == b.symbols && same(a.tensors, b.tensors) &&
         same(a.nodes, b.nodes) && a.outputs == b.outputs && a.loss == b.loss &&
         a.gradients == b.gradients && a.notes == b.notes;
}

double gemm_flops(const Graph& graph) {
  const graph::Bound bound = graph::bind(graph, {{"batch", 2}});
  double flops = 0;
  for (const graph::Node& node : graph.nodes) flops += graph::work({bound, node}).flops;
  return flops;
}

// The first model of every family, and drawn architectures of all kinds.
std::vector<std::string> some_models() {
  std::vector<std::string> some;
  std::set<std::string> families;
  for (const zoo::Model& model : zoo::models()) {
    if (families.insert(model.family).second) some.push_back(model.name);
  }
  for (int seed = 0; seed < 30; ++seed) {
    some.push_back("random:family=any,seed=" + std::to_string(seed));
  }
  return some;
}

void expect_round_trip(const Graph& graph) {
  const std::string text = importer::write_ftg(graph);
  const Graph again = importer::read_ftg(text, "text");  // verifies, too
  EXPECT_TRUE(same(again, graph));
  EXPECT_EQ(importer::write_ftg(again), text);
}

TEST(EveryModel, IsTheSameAfterAFile) {
  for (const zoo::Model& model : zoo::models()) {
    SCOPED_TRACE(model.name);
    const Graph graph = zoo::build(model.name);
    EXPECT_TRUE(same(importer::read_ftg(importer::write_ftg(graph), "text"), graph));
  }
}

TEST(EveryFamily, HasAStepThatIsTheSameAfterAFile) {
  for (const std::string& name : some_models()) {
    SCOPED_TRACE(name);
    const Graph half = set_precision(zoo::build(name), Precision::Bf16, graph::Casting::Automatic);
    const Graph step =
        update(backward(half, graph::GradientHandling::Accumulate), graph::Optimizer::AdamW);
    expect_round_trip(fuse(step, graph::Fusion::Pointwise));
  }
}

TEST(EveryFamily, KeepsItsProductsThroughEveryPass) {
  for (const std::string& name : some_models()) {
    SCOPED_TRACE(name);
    const Graph model = zoo::build(name);
    const double forward = gemm_flops(model);
    const Graph expanded = expand_attention(model);
    EXPECT_NO_THROW(verify(expanded));
    EXPECT_DOUBLE_EQ(gemm_flops(expanded), forward);
    for (const graph::Casting casting : {graph::Casting::Automatic, graph::Casting::WholeModel}) {
      const Graph half = set_precision(expanded, Precision::Fp16, casting);
      EXPECT_NO_THROW(verify(half));
      EXPECT_DOUBLE_EQ(gemm_flops(half), forward);
      const Graph step = update(backward(half), graph::Optimizer::Adam);
      EXPECT_NO_THROW(verify(step));
      for (const graph::Fusion fusion : {graph::Fusion::NormActivation, graph::Fusion::Pointwise}) {
        const Graph fused = fuse(step, fusion);
        EXPECT_NO_THROW(verify(fused));
        EXPECT_DOUBLE_EQ(gemm_flops(fused), gemm_flops(step));
      }
    }
  }
}

TEST(EveryFamily, RunsForInferenceAndWithFewerTrainableParameters) {
  for (const std::string& name : some_models()) {
    SCOPED_TRACE(name);
    const Graph model = zoo::build(name);
    const Graph inference = for_inference(model);
    EXPECT_NO_THROW(verify(inference));
    EXPECT_LE(gemm_flops(inference), gemm_flops(model));
    for (const char* what : {"head", "lora:rank=4"}) {
      const Graph step = update(backward(set_trainable(model, graph::parse_trainable(what))),
                                graph::Optimizer::Adam);
      EXPECT_NO_THROW(verify(step));
      EXPECT_LT(gemm_flops(step), gemm_flops(backward(model)) * 1.2);
    }
  }
}

}  // namespace
}  // namespace foretrain
