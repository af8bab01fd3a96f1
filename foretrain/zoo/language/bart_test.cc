// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

// (50265 + 2 * 1026) h and two norms of 2 h; layers of 12 h^2 + 13 h in the encoder and
// 16 h^2 + 19 h in the decoder.
TEST(Bart, HasThePublishedNumberOfParameters) {
  EXPECT_EQ(graph::parameter_count(build("bart-base")), 139420416);
  EXPECT_EQ(graph::parameter_count(build("bart-large")), 406291456);
}

// Every token of the source: 12 h^2 and 2 S h, and 2 h^2 for the decoder's keys and values; of
// the target: 14 h^2 and 2 (T + S) h, and vocab h.
TEST(Bart, CountsItsProducts) {
  const double h = 768;
  const double s = 256;
  const double t = 64;
  const double source = s * 6 * (14 * h * h + 2 * s * h);
  const double target = t * (6 * (14 * h * h + 2 * (t + s) * h) + 50265 * h);
  EXPECT_NEAR(gemm_flops(build("bart-base:seq=256,target=64"), 1) / (2 * (source + target)), 1,
              1e-9);
}

TEST(Bart, NamesParametersAsHuggingFace) {
  const graph::Graph model = build("bart-base");
  EXPECT_TRUE(has_tensor(model, "model.encoder.layers.0.self_attn.q_proj.weight"));
  EXPECT_TRUE(has_tensor(model, "model.decoder.layers.5.encoder_attn_layer_norm.bias"));
  EXPECT_TRUE(has_tensor(model, "model.decoder.layernorm_embedding.weight"));
}

}  // namespace
}  // namespace foretrain::zoo
