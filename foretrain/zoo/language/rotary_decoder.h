// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "foretrain/graph/graph.h"
#include "foretrain/zoo/language/experts.h"

namespace foretrain::zoo {

// Decoders with rotary positions, RMS norms and gated feed-forward layers: Llama and what came
// after it.
struct RotaryDecoder {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t ffn = 0;
  std::int64_t vocab = 0;
  std::int64_t seq = 0;
  std::int64_t head_size = 0;  // 0: hidden / heads
  bool tied = false;           // the head that predicts tokens is the embedding's table
  bool qkv_bias = false;
  bool out_bias = false;  // of attention's last projection
  bool mlp_bias = false;
  bool qk_norm = false;  // an RMS norm of each query and key head
  Experts experts = {};
  std::string activation = "silu";
};

// As Hugging Face's LlamaForCausalLM runs it. Throws Error(BadInput) naming the model where the
// heads do not fit.
graph::Graph build_rotary_decoder(const std::string& name, const RotaryDecoder& model);

}  // namespace foretrain::zoo
