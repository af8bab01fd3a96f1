// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/language/transformer_size.h"

#include "foretrain/zoo/detail/activation.h"
#include "foretrain/zoo/language/transformer_layers.h"

namespace foretrain::zoo {

void take_sizes(Spec& spec, TransformerSize& size) {
  size.vocab = spec.take("vocab", size.vocab);
  size.layers = spec.take("layers", size.layers, 1, kMostLayers);
  size.hidden = spec.take("hidden", size.hidden);
  size.heads = spec.take("heads", size.heads);
  size.ffn = spec.take("ffn", 4 * size.hidden);
  size.activation = spec.take_text("act", size.activation, activation_names());
  require_heads(spec, size.hidden, size.heads);
}

void take_positions(Spec& spec, TransformerSize& size) {
  size.positions = spec.take("positions", size.seq);
  size.seq = spec.take("seq", size.positions);
}

std::string describe_sizes(const TransformerSize& size) {
  return "seq=" + std::to_string(size.seq) + ", vocab=" + std::to_string(size.vocab) +
         ", layers=" + std::to_string(size.layers) + ", hidden=" + std::to_string(size.hidden) +
         ", heads=" + std::to_string(size.heads) + ", ffn=4*hidden";
}

std::string decoder_of(std::int64_t layers, std::int64_t hidden) {
  return "decoder of " + std::to_string(layers) + " layers, width " + std::to_string(hidden);
}

}  // namespace foretrain::zoo
