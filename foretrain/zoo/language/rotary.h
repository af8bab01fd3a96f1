// SPDX-License-Identifier: Apache-2.0
// Rotary positions: queries and keys are turned by an angle that grows with their position.
// Source: Su et al., arXiv 2104.09864; transformers, apply_rotary_pos_emb.
#pragma once

#include <cstdint>

#include "foretrain/graph/builder.h"

namespace foretrain::zoo {

// Cosine and sine of each position's angles: [1, 1, seq, size].
struct Angles {
  graph::TensorId cos;
  graph::TensorId sin;
};

Angles rotary_angles(graph::Builder& builder, std::int64_t seq, std::int64_t size);

// The first features of each head of x [batch, heads, seq, size], as many as there are angles,
// turned; the others pass as they are.
graph::TensorId rotate(graph::Builder& builder, graph::TensorId x, const Angles& angles);

}  // namespace foretrain::zoo
