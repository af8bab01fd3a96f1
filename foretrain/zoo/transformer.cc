// SPDX-License-Identifier: Apache-2.0
// The encoder and decoder of "Attention is all you need", with the names of fairseq: norms after
// the residual sums, sinusoidal positions, one table for source, target and prediction.
// Source: Vaswani et al., NeurIPS 2017; fairseq, transformer_wmt_en_de. The public PyTorch code
// attention-is-all-you-need-pytorch, which Gavel and Shockwave run, has convolutions of one
// position for the feed-forward layers.
#include <string>

#include "foretrain/base/error.h"
#include "foretrain/zoo/registry.h"
#include "foretrain/zoo/transformer_layers.h"

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

// Attention of x to `source`; then dropout, residual sum and norm.
TensorId attention_block(Builder& builder, const std::string& name, TensorId x, TensorId source,
                         const AttentionForm& form, const Size& size) {
  TensorId y{};
  {
    const Scope scope(builder, name);
    const auto heads = [&](const char* projection, TensorId from) {
      return split_heads(builder, linear(builder, projection, from, size.hidden), size.heads);
    };
    const TensorId q = heads("q_proj", x);
    const TensorId k = heads("k_proj", source);
    const TensorId v = heads("v_proj", source);
    y = merge_heads(builder, attend(builder, q, k, v, form));
    y = linear(builder, "out_proj", y, size.hidden);
  }
  y = dropout(builder, "dropout_module", y);
  return layer_norm(builder, name + "_layer_norm", builder.add(Kind::Add, {x, y}));
}

// A layer over [batch, width, 1, positions].
TensorId convolution(Builder& builder, const std::string& name, TensorId x, std::int64_t from,
                     std::int64_t to) {
  const Scope scope(builder, name);
  const TensorId weight = builder.parameter("weight", {to, from, 1, 1});
  return builder.add(Kind::Conv, {x, weight, builder.parameter("bias", {to})});
}

// Positions and width change places before and after.
TensorId convolved_feed_forward(Builder& builder, TensorId x, const Size& size) {
  const Attributes turn{{Attr::Axes, {0, 2, 1}}};
  x = builder.add(Kind::Contiguous, {builder.add(Kind::Transpose, {x}, turn)});
  x = builder.add(Kind::Reshape, {x}, Attributes{{Attr::Shape, {0, 0, 1, -1}}});
  x = builder.add(Kind::Relu, {convolution(builder, "fc1", x, size.hidden, size.ffn)});
  x = convolution(builder, "fc2", x, size.ffn, size.hidden);
  x = builder.add(Kind::Reshape, {x}, Attributes{{Attr::Shape, {0, 0, -1}}});
  return builder.add(Kind::Contiguous, {builder.add(Kind::Transpose, {x}, turn)});
}

TensorId feed_forward(Builder& builder, TensorId x, const Size& size) {
  TensorId y{};
  if (size.convolved) {
    y = convolved_feed_forward(builder, x, size);
  } else {
    y = builder.add(Kind::Relu, {linear(builder, "fc1", x, size.ffn)});
    y = linear(builder, "fc2", y, size.hidden);
  }
  y = dropout(builder, "dropout_module", y);
  return layer_norm(builder, "final_layer_norm", builder.add(Kind::Add, {x, y}));
}

TensorId encode(Builder& builder, TensorId tokens, TensorId table, const Size& size) {
  const Scope scope(builder, "encoder");
  TensorId x = embed_tokens(builder, tokens, table, size);
  for (std::int64_t i = 0; i < size.layers; ++i) {
    const Scope layer(builder, "layers." + std::to_string(i));
    x = attention_block(builder, "self_attn", x, x, {.mask = true}, size);
    x = feed_forward(builder, x, size);
  }
  return x;
}

TensorId decode(Builder& builder, TensorId tokens, TensorId table, TensorId source,
                const Size& size) {
  const Scope scope(builder, "decoder");
  TensorId x = embed_tokens(builder, tokens, table, size);
  for (std::int64_t i = 0; i < size.layers; ++i) {
    const Scope layer(builder, "layers." + std::to_string(i));
    x = attention_block(builder, "self_attn", x, x, {.causal = true}, size);
    x = attention_block(builder, "encoder_attn", x, source, {.mask = true}, size);
    x = feed_forward(builder, x, size);
  }
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
  const TensorId logits = decode(builder, target, table, encoded, size);
  builder.output(logits);
  builder.loss(token_cross_entropy(builder, logits, builder.input("target", tokens, DType::I64)));
  return builder.finish();
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
