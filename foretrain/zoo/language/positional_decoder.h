// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "foretrain/graph/builder.h"

namespace foretrain::zoo {

// What decoders with learned positions differ in.
struct PositionalDecoder {
  std::int64_t seq = 0;  // tokens
  std::int64_t vocab = 0;
  std::int64_t hidden = 0;
  std::int64_t positions = 0;
  std::int64_t layers = 0;
  std::string block;      // scope of a block: "h"
  std::string last_norm;  // "ln_f"
  bool dropout = false;   // of the embedded tokens
  bool tied = true;       // the head is the embedding's own table
  std::function<graph::TensorId(graph::Builder&, graph::TensorId)> add_block;
};

// Tokens embedded by "wte" with positions of "wpe", blocks, a last norm, the head "lm_head" and the
// loss.
graph::Graph build_positional_decoder(const std::string& name, const PositionalDecoder& decoder);

}  // namespace foretrain::zoo
