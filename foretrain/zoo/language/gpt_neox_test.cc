// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

// 2 vocab h + layers (12 h^2 + 13 h) + 2 h: the head is not tied.
constexpr Published kPublished[] = {
    {"pythia-70m", 70426624},    {"pythia-160m", 162322944},  {"pythia-410m", 405334016},
    {"pythia-1b", 1011781632},   {"pythia-1.4b", 1414647808}, {"pythia-2.8b", 2775208960},
    {"pythia-6.9b", 6857302016}, {"pythia-12b", 11846072320}, {"gpt-neox-20b", 20554567680},
};

TEST(Neox, HasThePublishedNumbersOfParameters) { expect_parameters(kPublished); }

TEST(Neox, CountsItsProducts) {
  const double h = 512;
  const double macs = 2048 * (6 * (12 * h * h + 2 * 2048 * h) + 50304 * h);
  EXPECT_NEAR(gemm_flops(build("pythia-70m"), 1) / (2 * macs), 1, 1e-9);
}

// A quarter of each head turns, so the rest is put beside it again: two concatenations for each
// of queries and keys, where a whole head needs one.
TEST(Neox, TurnsAPartOfEachHead) {
  EXPECT_EQ(count(build("pythia-70m"), graph::Kind::Concat), 6 * 2 * 2);
  EXPECT_EQ(count(build("pythia-70m:rotary_percent=100"), graph::Kind::Concat), 6 * 2);
  EXPECT_THROW(build("pythia-70m:rotary_percent=1"), Error);
}

TEST(Neox, LayersMayFollowOneAnother) {
  EXPECT_EQ(graph::parameter_count(build("pythia-70m:parallel=0")), 70426624);
  EXPECT_EQ(graph::parameter_count(build("pythia-70m:tied=1")), 70426624 - 50304 * 512);
}

TEST(Neox, NamesParametersAsHuggingFace) {
  const graph::Graph model = build("pythia-70m");
  EXPECT_TRUE(has_tensor(model, "gpt_neox.layers.5.attention.query_key_value.weight"));
  EXPECT_TRUE(has_tensor(model, "gpt_neox.layers.0.mlp.dense_4h_to_h.bias"));
  EXPECT_TRUE(has_tensor(model, "embed_out.weight"));
}

}  // namespace
}  // namespace foretrain::zoo
