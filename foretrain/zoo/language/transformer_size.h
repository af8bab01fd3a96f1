// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "foretrain/zoo/detail/spec.h"

namespace foretrain::zoo {

// The sizes that most transformers have; a family adds its own. Tables of published sizes state
// those down to the activation; the others follow from them where they are not given.
struct TransformerSize {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t vocab = 0;
  std::int64_t seq = 0;  // tokens
  std::string activation = "gelu";
  std::int64_t ffn = 0;        // by default 4 hidden
  std::int64_t positions = 0;  // that a token may have; by default as many as tokens
};

// Takes vocab, layers, hidden, heads, ffn and act where they are given. Throws Error(BadInput)
// naming the model unless every head is as wide as the others.
void take_sizes(Spec& spec, TransformerSize& size);

// Takes positions, then seq, which is as long as they allow where it is not given.
void take_positions(Spec& spec, TransformerSize& size);

// For the catalog, "seq=512, vocab=30522, ...": seq and what take_sizes takes, but for act.
std::string describe_sizes(const TransformerSize& size);

// "decoder of 12 layers, width 768".
std::string decoder_of(std::int64_t layers, std::int64_t hidden);

}  // namespace foretrain::zoo
