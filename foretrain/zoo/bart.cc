// SPDX-License-Identifier: Apache-2.0
// BART, as Hugging Face's BartForConditionalGeneration runs it: an encoder and a decoder with
// learned positions, norms after the sums, one table for both and for the prediction.
// Source: Lewis et al., ACL 2020; transformers, modeling_bart.py.
#include <string>

#include "foretrain/zoo/activation.h"
#include "foretrain/zoo/registry.h"
#include "foretrain/zoo/transformer_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

struct Size {
  std::int64_t layers = 0;  // of the encoder, and as many of the decoder
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t ffn = 0;  // 0: 4 hidden
  std::int64_t decoder_layers = 0;
  std::int64_t vocab = 50265;
  std::int64_t positions = 1024;
  std::int64_t seq = 1024;
  std::int64_t target = 0;  // tokens of the decoder
  std::string activation = "gelu";
};

constexpr std::int64_t kUnusedPositions = 2;  // rows in front that no position takes

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
  const TensorId sum = builder.add(Kind::Add, {x, dropout(builder, "", y)});
  return layer_norm(builder, name + "_layer_norm", sum);
}

TensorId feed_forward(Builder& builder, TensorId x, const Size& size) {
  TensorId y = activate(builder, size.activation, linear(builder, "fc1", x, size.ffn));
  y = dropout(builder, "", linear(builder, "fc2", y, size.hidden));
  return layer_norm(builder, "final_layer_norm", builder.add(Kind::Add, {x, y}));
}

// Words and their positions, normalized.
TensorId embed_words(Builder& builder, TensorId ids, TensorId table, const Size& size) {
  const std::int64_t length = builder.shape(ids)[1].factor;
  const std::int64_t rows = position_rows(builder, size.positions, length) + kUnusedPositions;
  const TensorId words = builder.add(Kind::Embedding, {ids, table});
  const TensorId positions = embed_positions(builder, "embed_positions", rows, length, size.hidden);
  const TensorId sum = builder.add(Kind::Add, {words, positions});
  return dropout(builder, "", layer_norm(builder, "layernorm_embedding", sum));
}

TensorId encode(Builder& builder, TensorId ids, TensorId table, const Size& size) {
  const Scope scope(builder, "encoder");
  TensorId x = embed_words(builder, ids, table, size);
  for (std::int64_t i = 0; i < size.layers; ++i) {
    const Scope layer(builder, "layers." + std::to_string(i));
    x = attention_block(builder, "self_attn", x, x, {.mask = true}, size);
    x = feed_forward(builder, x, size);
  }
  return x;
}

TensorId decode(Builder& builder, TensorId ids, TensorId table, TensorId source, const Size& size) {
  const Scope scope(builder, "decoder");
  TensorId x = embed_words(builder, ids, table, size);
  for (std::int64_t i = 0; i < size.decoder_layers; ++i) {
    const Scope layer(builder, "layers." + std::to_string(i));
    x = attention_block(builder, "self_attn", x, x, {.causal = true}, size);
    x = attention_block(builder, "encoder_attn", x, source, {.mask = true}, size);
    x = feed_forward(builder, x, size);
  }
  return x;
}

graph::Graph build_model(const std::string& name, const Size& size) {
  Builder builder(name);
  const graph::Shape targets{builder.batch(), size.target};
  const TensorId ids = builder.input("input_ids", {builder.batch(), size.seq}, DType::I64);
  const TensorId before = builder.input("decoder_input_ids", targets, DType::I64);
  builder.enter("model");
  const TensorId table = builder.parameter("shared.weight", {size.vocab, size.hidden});
  const TensorId source = encode(builder, ids, table, size);
  const TensorId x = decode(builder, before, table, source, size);
  builder.leave();
  const TensorId bias = builder.buffer("final_logits_bias", {1, size.vocab});
  builder.enter("lm_head");
  const TensorId logits = builder.add(Kind::Add, {builder.add(Kind::Linear, {x, table}), bias});
  builder.leave();
  builder.output(logits);
  builder.loss(token_cross_entropy(builder, logits, builder.input("labels", targets, DType::I64)));
  return builder.finish();
}

struct Named {
  const char* name;
  const char* about;
  Size size;
};

const Named kNamed[] = {
    {"bart-base", "encoder and decoder of 6 layers each, width 768", {6, 768, 12}},
    {"bart-large", "encoder and decoder of 12 layers each, width 1024", {12, 1024, 16}},
};

graph::Graph build_bart(Spec& spec) {
  Size size = row_of(kNamed, spec).size;
  size.vocab = spec.take("vocab", size.vocab);
  size.layers = spec.take("layers", size.layers, 1, kMostLayers);
  size.decoder_layers = spec.take("decoder_layers", size.layers, 1, kMostLayers);
  size.hidden = spec.take("hidden", size.hidden);
  size.heads = spec.take("heads", size.heads);
  size.ffn = spec.take("ffn", 4 * size.hidden);
  size.positions = spec.take("positions", size.positions);
  size.seq = spec.take("seq", size.positions);
  size.target = spec.take("target", size.seq);
  size.activation = spec.take_text("act", size.activation, activation_names());
  require_heads(spec, size.hidden, size.heads);
  return build_model(spec.name(), size);
}

}  // namespace

std::vector<Entry> bart_entries() {
  std::vector<Entry> entries;
  for (const Named& named : kNamed) {
    entries.push_back(
        {{named.name, "BART", named.about,
          "seq=1024, target=seq, vocab=50265, layers=" + std::to_string(named.size.layers) +
              ", decoder_layers=layers, hidden=" + std::to_string(named.size.hidden) + ", heads=" +
              std::to_string(named.size.heads) + ", ffn=4*hidden, positions=1024, act=gelu"},
         build_bart});
  }
  return entries;
}

}  // namespace foretrain::zoo
