// SPDX-License-Identifier: Apache-2.0
// The encoder and decoder of "Attention is all you need", with the names of fairseq: norms after
// the residual sums, sinusoidal positions, one table for source, target and prediction.
// Source: Vaswani et al., NeurIPS 2017; fairseq, transformer_wmt_en_de. The public PyTorch code
// attention-is-all-you-need-pytorch, which Gavel and Shockwave run, has convolutions of one
// position for the feed-forward layers.
#include <string>

#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/language/post_norm_layers.h"
#include "foretrain/zoo/language/transformer_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::Shape;
using graph::TensorId;

struct Size {
  std::int64_t layers;  // of the encoder, and as many of the decoder
  std::int64_t hidden;
  std::int64_t heads;
  std::int64_t ffn;
  std::int64_t vocab = 0;
  std::int64_t seq = 0;
  bool convolved = false;  // feed-forward layers
};

// Vectors of `tokens`, scaled, with the sines of their positions.
TensorId embed_tokens(Builder& builder, TensorId tokens, TensorId table, const Size& size) {
  TensorId words{};
  {
    const Scope scope(builder, "embed_tokens");
    words = builder.add(Kind::Scale, {builder.add(Kind::Embedding, {tokens, table})});
  }
  const TensorId sines = builder.buffer("embed_positions", {1, size.seq, size.hidden});
  return dropout(builder, "dropout_module", builder.add(Kind::Add, {words, sines}));
}

// Positions and width change places before and after: [batch, width, 1, positions] in between.
TensorId convolved_feed_forward(Builder& builder, TensorId x, const Size& size) {
  const Attributes turn{{Attr::Axes, {0, 2, 1}}};
  x = builder.add(Kind::Contiguous, {builder.add(Kind::Transpose, {x}, turn)});
  x = builder.add(Kind::Reshape, {x}, Attributes{{Attr::Shape, {0, 0, 1, -1}}});
  x = conv(builder, "fc1", x, {.channels = size.ffn, .bias = true});
  x = builder.add(Kind::Relu, {x});
  x = conv(builder, "fc2", x, {.channels = size.hidden, .bias = true});
  x = builder.add(Kind::Reshape, {x}, Attributes{{Attr::Shape, {0, 0, -1}}});
  return builder.add(Kind::Contiguous, {builder.add(Kind::Transpose, {x}, turn)});
}

PostNormLayer layer_of(Builder& builder, const Size& size) {
  return {size.heads, "dropout_module", [&builder, &size](TensorId x) {
            if (size.convolved) return convolved_feed_forward(builder, x, size);
            x = builder.add(Kind::Relu, {linear(builder, "fc1", x, size.ffn)});
            return linear(builder, "fc2", x, size.hidden);
          }};
}

TensorId encode(Builder& builder, TensorId tokens, TensorId table, const Size& size) {
  const Scope scope(builder, "encoder");
  const TensorId x = embed_tokens(builder, tokens, table, size);
  return run_encoder_layers(builder, x, size.layers, layer_of(builder, size));
}

TensorId decode(Builder& builder, TensorId tokens, TensorId table, TensorId source,
                const Size& size) {
  const Scope scope(builder, "decoder");
  TensorId x = embed_tokens(builder, tokens, table, size);
  x = run_decoder_layers(builder, x, source, size.layers, layer_of(builder, size));
  const Scope head(builder, "output_projection");
  return builder.add(Kind::Linear, {x, table});
}

graph::Graph build_transformer(Spec& spec, Size size) {
  size.vocab = spec.take("vocab", 32000);
  size.seq = spec.take("seq", 64);
  size.layers = spec.take("layers", size.layers, 1, kMostLayers);
  size.convolved = spec.take_text("ffn", "linear", {"linear", "conv"}) == "conv";
  Builder builder(spec.name());
  const Shape tokens{builder.batch(), size.seq};
  const TensorId source = builder.input("src_tokens", tokens, DType::I64);
  const TensorId target = builder.input("prev_output_tokens", tokens, DType::I64);
  const TensorId table =
      builder.parameter("encoder.embed_tokens.weight", {size.vocab, size.hidden});
  const TensorId encoded = encode(builder, source, table, size);
  return finish_tokens(builder, decode(builder, target, table, encoded, size), "target");
}

graph::Graph build_base(Spec& spec) { return build_transformer(spec, {6, 512, 8, 2048}); }
graph::Graph build_big(Spec& spec) { return build_transformer(spec, {6, 1024, 16, 4096}); }

}  // namespace

std::vector<Entry> transformer_entries() {
  const std::string parameters = "vocab=32000, seq=64, layers=6, ffn=linear|conv";
  return {{{"transformer-base", "Transformer", "translation, 6 + 6 layers, width 512", parameters},
           build_base},
          {{"transformer-big", "Transformer", "translation, 6 + 6 layers, width 1024", parameters},
           build_big}};
}

}  // namespace foretrain::zoo
