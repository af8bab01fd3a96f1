// SPDX-License-Identifier: Apache-2.0
// A large vocabulary cut into clusters by frequency, so that most tokens only meet the head.
// Source: Grave et al., ICML 2017; Baevski, Auli, ICLR 2019; NVIDIA DeepLearningExamples,
// Transformer-XL, proj_adaptive_softmax.py.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "foretrain/graph/builder.h"

namespace foretrain::zoo {

inline constexpr std::size_t kClusters = 4;

struct AdaptiveVocabulary {
  // The first word after each cluster; the most frequent words come first.
  std::array<std::int64_t, kClusters> ends{};
  std::int64_t width = 0;    // of the model
  std::int64_t divisor = 1;  // each cluster's vectors are narrower by it than those before
};

// The parameters that looking up and predicting share.
struct AdaptiveTables {
  std::vector<graph::TensorId> tables;       // one in all where the divisor is 1, else one each
  std::vector<graph::TensorId> projections;  // none where the divisor is 1
};

// Tokens of a sequence that fall into each cluster, if a word's frequency is inverse to its rank
// (Zipf's law): the share of ranks a to b of V is (H(b) - H(a)) / H(V), H(n) = 1 + ... + 1/n.
// At least one each; `seq` is at least as many.
std::array<std::int64_t, kClusters> tokens_per_cluster(const AdaptiveVocabulary& vocabulary,
                                                       std::int64_t seq);

// Vectors of `ids` [batch, seq]: [batch, seq, width], scaled.
graph::TensorId embed_adaptively(graph::Builder& builder, graph::TensorId ids,
                                 const AdaptiveVocabulary& vocabulary, AdaptiveTables& shared);

// The loss of x [batch, seq, width] against `targets` [batch, seq]: the head's for every token,
// each further cluster's for the tokens in it.
graph::TensorId adaptive_loss(graph::Builder& builder, graph::TensorId x, graph::TensorId targets,
                              const AdaptiveVocabulary& vocabulary, const AdaptiveTables& shared);

}  // namespace foretrain::zoo
