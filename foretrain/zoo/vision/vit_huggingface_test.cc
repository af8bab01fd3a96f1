// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

// As torchvision's vit_b_16 and vit_l_16, which have the same weights. For 384 / 32 = 12 patches
// on a side: 145 positions and 3 * 32^2 weights per channel.
TEST(VitHuggingFace, HasThePublishedNumberOfParameters) {
  EXPECT_EQ(graph::parameter_count(build("vit-base-patch16-224")), 86567656);
  EXPECT_EQ(graph::parameter_count(build("vit-base-patch32-384")),
            86567656 + (145 - 197) * 768 + 3 * (32 * 32 - 16 * 16) * 768);
  EXPECT_EQ(graph::parameter_count(build("vit-large-patch16-224")), 304326632);
}

// 197 tokens through 12 h^2 and 2 * 197 h per layer, 196 patches of 768 pixels, 1000 classes.
TEST(VitHuggingFace, CountsItsProducts) {
  const double h = 768;
  const double macs = 197 * 12 * (12 * h * h + 2 * 197 * h) + 196 * 768 * h + 1000 * h;
  EXPECT_NEAR(gemm_flops(build("vit-base-patch16-224"), 1) / (2 * macs), 1, 1e-9);
}

TEST(VitHuggingFace, NamesParametersAsHuggingFace) {
  const graph::Graph model = build("vit-base-patch16-224");
  EXPECT_TRUE(has_tensor(model, "vit.embeddings.patch_embeddings.projection.weight"));
  EXPECT_TRUE(has_tensor(model, "vit.encoder.layer.11.attention.attention.query.bias"));
  EXPECT_TRUE(has_tensor(model, "vit.encoder.layer.0.attention.output.dense.weight"));
}

TEST(VitHuggingFace, RefusesPatchesThatDoNotFit) {
  EXPECT_THROW(build("vit-base-patch16-224:image=230"), Error);
}

}  // namespace
}  // namespace foretrain::zoo
