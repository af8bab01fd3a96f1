// SPDX-License-Identifier: Apache-2.0
// Every model of the catalog must go through the passes that a training step needs.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "foretrain/graph/backward.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

using graph::Graph;

double matrix_flops(const Graph& step, graph::Phase phase) {
  const graph::Bound bound = graph::bind(step, {{"batch", 1}});
  double flops = 0;
  for (const graph::Node& node : step.nodes) {
    if (node.phase == phase) flops += graph::work({bound, node}).flops;
  }
  return flops;
}

// Every name, and the heads that are not the usual one.
std::vector<std::string> all_models() {
  std::vector<std::string> all;
  for (const Model& model : models()) all.push_back(model.name);
  for (const char* head : {"mlm", "qa", "classification", "none"}) {
    all.push_back(std::string("bert-base:head=") + head);
  }
  for (const char* form :
       {"roberta-base:head=qa", "roberta-base:head=none", "distilbert-base:head=qa",
        "electra-base:head=discriminator", "electra-base:head=qa", "gpt2:tied=0,act=quick_gelu",
        "transformer-xl-base:memory=0", "pythia-70m:parallel=0,rotary_percent=100",
        "llama:layers=2,hidden=64,heads=4,ffn=96,vocab=50,seq=3,experts=8,active=2"}) {
    all.emplace_back(form);
  }
  return all;
}

TEST(EveryModel, GivesEveryLearnedParameterAGradient) {
  for (const std::string& name : all_models()) {
    SCOPED_TRACE(name);
    const Graph model = build(name);
    EXPECT_NO_THROW(graph::verify(model));
    const Graph step = graph::backward(model);
    EXPECT_NO_THROW(graph::verify(step));
    const auto learned =
        std::count_if(step.tensors.begin(), step.tensors.end(),
                      [](const graph::Tensor& tensor) { return tensor.trainable; });
    EXPECT_EQ(static_cast<std::int64_t>(step.gradients.size()), learned);
  }
}

// Backward computes each GEMM twice, for the input and for the weight; the first layer's
// input needs no gradient.
TEST(EveryModel, ComputesUpToTwiceAsMuchBackward) {
  for (const std::string& name : all_models()) {
    SCOPED_TRACE(name);
    const Graph step = graph::backward(graph::expand_attention(build(name)));
    EXPECT_NO_THROW(graph::verify(step));
    const double forward = matrix_flops(step, graph::Phase::Forward);
    const double backward = matrix_flops(step, graph::Phase::Backward);
    EXPECT_LE(backward, 2 * forward * (1 + 1e-9));
    EXPECT_GE(backward, forward);
  }
}

}  // namespace
}  // namespace foretrain::zoo
