// SPDX-License-Identifier: Apache-2.0
// Encoders and decoders with norms after the residual sums, as in "Attention is all you need",
// with the names of fairseq, which Hugging Face keeps for BART.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "foretrain/graph/builder.h"

namespace foretrain::zoo {

struct PostNormLayer {
  std::int64_t heads = 0;
  std::string dropout;  // its module's name; empty: a call that is no module
  // What the layer does after attention, without dropout, sum and norm.
  std::function<graph::TensorId(graph::TensorId)> feed_forward;
};

// The layers "layers.0", "layers.1" and so on of an encoder over x [batch, seq, width]; padding is
// masked.
graph::TensorId run_encoder_layers(graph::Builder& builder, graph::TensorId x, std::int64_t layers,
                                   const PostNormLayer& layer);
// Of a decoder, which sees the tokens before and the encoder's output `source`.
graph::TensorId run_decoder_layers(graph::Builder& builder, graph::TensorId x,
                                   graph::TensorId source, std::int64_t layers,
                                   const PostNormLayer& layer);

}  // namespace foretrain::zoo
