// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "foretrain/graph/builder.h"

namespace foretrain::zoo {

struct Experts {
  std::int64_t count = 0;   // 0: one feed-forward layer for all tokens
  std::int64_t active = 2;  // experts that each token goes through
};

// Tokens that one expert takes of each sequence. The router is assumed to spread them evenly, so
// the GEMMs are those of the active experts, no more: ceil(seq active / count).
std::int64_t tokens_per_expert(const Experts& experts, std::int64_t seq);

// Mixtral's sparse layer in place of a gated feed-forward layer; x is [batch, seq, width]. A
// router scores the experts and takes the best; tokens are gathered by expert, go through the
// experts' weights in batched GEMMs, and their results are gathered back and weighed.
// Source: Jiang et al., arXiv 2401.04088; batched as in Gale et al., MLSys 2023, with experts
// of equal load.
graph::TensorId sparse_feed_forward(graph::Builder& builder, graph::TensorId x,
                                    const Experts& experts, std::int64_t ffn,
                                    const std::string& activation);

}  // namespace foretrain::zoo
