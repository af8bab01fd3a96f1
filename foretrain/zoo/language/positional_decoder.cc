// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/language/positional_decoder.h"

#include "foretrain/zoo/language/transformer_layers.h"

namespace foretrain::zoo {

graph::Graph build_positional_decoder(const std::string& name, const PositionalDecoder& decoder) {
  graph::Builder builder(name);
  const graph::TensorId ids =
      builder.input("input_ids", {builder.batch(), decoder.seq}, DType::I64);
  graph::TensorId table{};
  builder.enter("transformer");
  const graph::TensorId words = embed(builder, "wte", ids, decoder.vocab, decoder.hidden, &table);
  graph::TensorId x = add_positions(builder, "wpe", words, decoder.positions);
  if (decoder.dropout) x = dropout(builder, "drop", x);
  for (std::int64_t i = 0; i < decoder.layers; ++i) {
    const graph::Scope scope(builder, decoder.block + "." + std::to_string(i));
    x = decoder.add_block(builder, x);
  }
  x = layer_norm(builder, decoder.last_norm, x);
  builder.leave();
  return finish_language_model(builder, x, "lm_head", table, decoder.tied);
}

}  // namespace foretrain::zoo
