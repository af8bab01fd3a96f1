// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/zoo/language/adaptive_vocabulary.h"
#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

// A layer of width h, feed-forward width f: 5 h^2 for queries, keys, values, distances and
// output, 2 h f + f + h, two norms of 2 h.
// Base, h = 512, f = 2048: a layer 3,412,480, sixteen 54,599,680; the table and its biases
// 267735 (h + 1) = 137,348,055; three clusters' 3 (h + 1) = 1,539; two query biases of h. NVIDIA
// calls it 192 M.
// Large, h = 1024, f = 4096: eighteen layers of 13,640,704 = 245,532,672; tables 19997 * 1024 +
// 20000 * 256 + 160000 * 64 + 67738 * 16 = 36,920,736; projections h (1024 + 256 + 64 + 16) and
// another h^2 = 2,441,216; biases 267,735; clusters 3,075; query biases 2,048. Hugging Face's has
// the query biases once per layer.
TEST(TransformerXl, MatchesHandCalculation) {
  EXPECT_EQ(graph::parameter_count(build("transformer-xl-base")),
            54599680 + 137348055 + 1539 + 1024);
  const std::int64_t large = 245532672 + 36920736 + 2441216 + 267735 + 3075 + 2048;
  EXPECT_EQ(graph::parameter_count(build("transformer-xl-large")), large);
  EXPECT_EQ(graph::parameter_count(build("transfo-xl-wt103")), large + 17 * 2048);
}

// Zipf's law over 267735 words, H = 13.075: ranks to 19997 take 80.2 %, to 39997 5.3 %, to 199997
// 12.3 %, the rest 2.2 %; of 192 tokens 10.2, 23.6 and 4.3 leave the head.
TEST(TransformerXl, SpreadsWordsByZipfsLaw) {
  const AdaptiveVocabulary words{{19997, 39997, 199997, 267735}, 512, 1};
  EXPECT_EQ(tokens_per_cluster(words, 192),
            (std::array<std::int64_t, kClusters>{192 - 10 - 24 - 4, 10, 24, 4}));
  EXPECT_EQ(tokens_per_cluster(words, 16),
            (std::array<std::int64_t, kClusters>{16 - 1 - 2 - 1, 1, 2, 1}));
}

// S = 192 tokens, K = 384 keys with the memory: queries, keys and values of all 3 h^2 K,
// distances h^2 K, content, distance and values 3 S K h, output h^2 S, feed-forward 2 h f S. The
// head has 20000 rows for every token, the clusters 20000, 160000 and 67738 for 10, 24 and 4.
TEST(TransformerXl, CountsItsProducts) {
  const double h = 512;
  const double s = 192;
  const double k = 384;
  const double layer = 4 * h * h * k + 3 * s * k * h + h * h * s + 2 * h * 2048 * s;
  const double words = h * (s * 20000 + 10 * 20000 + 24 * 160000.0 + 4 * 67738);
  const double flops = 2 * (16 * layer + words);
  EXPECT_NEAR(gemm_flops(build("transformer-xl-base"), 1) / flops, 1, 1e-9);
}

// Without memory the keys are the tokens themselves.
TEST(TransformerXl, MayForget) {
  const graph::Graph model = build("transformer-xl-base:memory=0");
  EXPECT_FALSE(has_tensor(model, "layers.0.dec_attn.mems"));
  EXPECT_EQ(graph::parameter_count(model), graph::parameter_count(build("transformer-xl-base")));
  EXPECT_LT(gemm_flops(model, 1), gemm_flops(build("transformer-xl-base"), 1));
}

}  // namespace
}  // namespace foretrain::zoo
