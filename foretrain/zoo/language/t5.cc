// SPDX-License-Identifier: Apache-2.0
// T5, as Hugging Face's T5ForConditionalGeneration runs it: an encoder and a decoder whose
// attention adds a learned bias of the distance between tokens to scores that are not scaled, so
// it is never one kernel. t5-* are version 1.0; flan-t5-* have gated layers and a head of their
// own, as version 1.1.
// Source: Raffel et al., JMLR 2020; transformers, modeling_t5.py.
#include <string>

#include "foretrain/zoo/detail/activation.h"
#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/language/transformer_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

// Pretraining replaces 15 % of 512 tokens in spans of three: 114 tokens are left to predict.
// Source: transformers, run_t5_mlm_flax.py, compute_input_and_target_lengths.
constexpr std::int64_t kTarget = 114;

struct Size {
  std::int64_t layers = 0;  // of the encoder
  std::int64_t hidden = 0;
  std::int64_t ffn = 0;
  std::int64_t heads = 0;
  std::int64_t head_size = 64;
  bool gated = false;
  bool tied = true;
  std::string activation = "relu";
  std::int64_t decoder_layers = 0;  // 0: as many
  std::int64_t vocab = 32128;
  std::int64_t buckets = 32;  // of distances
  std::int64_t seq = 512;
  std::int64_t target = kTarget;  // tokens of the decoder
};

// What a stack's attention adds to its scores: bias and mask, [batch, heads, queries, keys].
struct Biases {
  TensorId self;
  TensorId cross;
};

// A learned value per head and distance; the table belongs to the first layer.
TensorId position_bias(Builder& builder, std::int64_t length, const Size& size) {
  const Scope scope(builder, "block.0.layer.0.SelfAttention");
  const TensorId distances = builder.buffer("relative_buckets", {length, length}, DType::I64);
  const TensorId values =
      embed(builder, "relative_attention_bias", distances, size.buckets, size.heads);
  const TensorId turned =
      builder.add(Kind::Transpose, {values}, Attributes{{Attr::Axes, {2, 0, 1}}});
  return builder.add(Kind::Reshape, {turned},
                     Attributes{{Attr::Shape, {1, size.heads, length, length}}});
}

TensorId masked(Builder& builder, TensorId bias, std::int64_t queries, std::int64_t keys) {
  const TensorId mask = builder.buffer("attention_mask", {builder.batch(), 1, queries, keys});
  return builder.add(Kind::Add, {bias, mask});
}

TensorId attention(Builder& builder, const char* name, TensorId x, TensorId source, TensorId bias,
                   const Size& size) {
  const Scope scope(builder, name);
  const std::int64_t inner = size.heads * size.head_size;
  const auto heads = [&](const char* projection, TensorId from) {
    return split_heads(builder, linear_unbiased(builder, projection, from, inner), size.heads);
  };
  const TensorId q = heads("q", x);
  const TensorId k = heads("k", source);
  const TensorId v = heads("v", source);
  TensorId scores = builder.add(Kind::MatMul, {q, k}, Attributes{{Attr::TransposeB, {1}}});
  scores = builder.add(Kind::Add, {scores, bias}, Attributes{{Attr::Inplace, {1}}});
  scores = builder.add(Kind::Softmax, {scores}, Attributes{{Attr::Axis, {-1}}});
  const TensorId weights = builder.add(Kind::Dropout, {scores});
  const TensorId attended = builder.add(Kind::MatMul, {weights, v});
  return linear_unbiased(builder, "o", merge_heads(builder, attended), size.hidden);
}

TensorId feed_forward(Builder& builder, TensorId x, const Size& size) {
  const Scope scope(builder, "DenseReluDense");
  TensorId y{};
  if (size.gated) {
    const TensorId gate =
        activate(builder, size.activation, linear_unbiased(builder, "wi_0", x, size.ffn));
    y = builder.add(Kind::Mul, {gate, linear_unbiased(builder, "wi_1", x, size.ffn)});
  } else {
    y = activate(builder, size.activation, linear_unbiased(builder, "wi", x, size.ffn));
  }
  return linear_unbiased(builder, "wo", dropout(builder, "dropout", y), size.hidden);
}

// Layer number `index` of a block: `run` between a norm and a residual sum.
template <typename Run>
TensorId residual(Builder& builder, int index, TensorId x, Run run) {
  const Scope scope(builder, "layer." + std::to_string(index));
  const TensorId y = run(rms_norm(builder, "layer_norm", x));
  return builder.add(Kind::Add, {x, dropout(builder, "dropout", y)});
}

// A stack of blocks; the decoder's also look at `source`, where it is given.
TensorId run_stack(Builder& builder, TensorId x, const Biases& biases, const TensorId* source,
                   const Size& size) {
  x = dropout(builder, "dropout", x);
  const std::int64_t layers = source == nullptr ? size.layers : size.decoder_layers;
  for (std::int64_t i = 0; i < layers; ++i) {
    const Scope scope(builder, "block." + std::to_string(i));
    x = residual(builder, 0, x, [&](TensorId in) {
      return attention(builder, "SelfAttention", in, in, biases.self, size);
    });
    if (source != nullptr) {
      x = residual(builder, 1, x, [&](TensorId in) {
        return attention(builder, "EncDecAttention", in, *source, biases.cross, size);
      });
    }
    x = residual(builder, source == nullptr ? 1 : 2, x,
                 [&](TensorId in) { return feed_forward(builder, in, size); });
  }
  return dropout(builder, "dropout", rms_norm(builder, "final_layer_norm", x));
}

TensorId encode(Builder& builder, TensorId words, const Size& size) {
  const Scope scope(builder, "encoder");
  Biases biases{};
  biases.self = masked(builder, position_bias(builder, size.seq, size), 1, size.seq);
  return run_stack(builder, words, biases, nullptr, size);
}

TensorId decode(Builder& builder, TensorId words, TensorId source, const Size& size) {
  const Scope scope(builder, "decoder");
  Biases biases{};
  biases.self =
      masked(builder, position_bias(builder, size.target, size), size.target, size.target);
  const TensorId none = builder.buffer("no_bias", {1, size.heads, size.target, size.seq});
  const TensorId mask = builder.buffer("encoder_mask", {builder.batch(), 1, 1, size.seq});
  biases.cross = builder.add(Kind::Add, {none, mask});
  return run_stack(builder, words, biases, &source, size);
}

graph::Graph build_model(const std::string& name, const Size& size) {
  Builder builder(name);
  const TensorId ids = builder.input("input_ids", {builder.batch(), size.seq}, DType::I64);
  const TensorId before =
      builder.input("decoder_input_ids", {builder.batch(), size.target}, DType::I64);
  TensorId table{};
  const TensorId from = embed(builder, "shared", ids, size.vocab, size.hidden, &table);
  const TensorId source = encode(builder, from, size);
  const TensorId to = builder.add(Kind::Embedding, {before, table});
  TensorId x = decode(builder, to, source, size);
  builder.enter("lm_head");
  if (size.tied) x = builder.add(Kind::Scale, {x});
  if (!size.tied) table = builder.parameter("weight", {size.vocab, size.hidden});
  const TensorId logits = builder.add(Kind::Linear, {x, table});
  builder.leave();
  return finish_tokens(builder, logits, "labels");
}

struct Named {
  const char* name;
  Size size;
};

const Named kNamed[] = {
    {"t5-small", {6, 512, 2048, 8}},
    {"t5-base", {12, 768, 3072, 12}},
    {"t5-large", {24, 1024, 4096, 16}},
    {"t5-3b", {24, 1024, 16384, 32, 128}},
    {"t5-11b", {24, 1024, 65536, 128, 128}},
    {"flan-t5-small", {8, 512, 1024, 6, 64, true, false, "gelu_new"}},
    {"flan-t5-base", {12, 768, 2048, 12, 64, true, false, "gelu_new"}},
    {"flan-t5-large", {24, 1024, 2816, 16, 64, true, false, "gelu_new"}},
    {"flan-t5-xl", {24, 2048, 5120, 32, 64, true, false, "gelu_new"}},
    {"flan-t5-xxl", {24, 4096, 10240, 64, 64, true, false, "gelu_new"}},
};

graph::Graph build_t5(Spec& spec) {
  Size size = row_of(kNamed, spec).size;
  size.seq = spec.take("seq", size.seq);
  size.target = spec.take("target", size.target);
  size.vocab = spec.take("vocab", size.vocab);
  size.layers = spec.take("layers", size.layers, 1, kMostLayers);
  size.decoder_layers = spec.take("decoder_layers", size.layers, 1, kMostLayers);
  size.hidden = spec.take("hidden", size.hidden);
  size.ffn = spec.take("ffn", size.ffn);
  size.heads = spec.take("heads", size.heads);
  size.head_size = spec.take("head_size", size.head_size);
  size.buckets = spec.take("buckets", size.buckets, 1, 65536);
  size.gated = spec.take("gated", size.gated ? 1 : 0, 0, 1) != 0;
  size.tied = spec.take("tied", size.tied ? 1 : 0, 0, 1) != 0;
  size.activation = spec.take_text("act", size.activation, activation_names());
  return build_model(spec.name(), size);
}

std::string parameters(const Size& size) {
  return "seq=512, target=114, vocab=32128, layers=" + std::to_string(size.layers) +
         ", decoder_layers=layers, hidden=" + std::to_string(size.hidden) +
         ", ffn=" + std::to_string(size.ffn) + ", heads=" + std::to_string(size.heads) +
         ", head_size=" + std::to_string(size.head_size) +
         ", buckets=32, gated=" + (size.gated ? "1" : "0") + ", tied=" + (size.tied ? "1" : "0") +
         ", act=" + size.activation;
}

}  // namespace

std::vector<Entry> t5_entries() {
  std::vector<Entry> entries;
  for (const Named& named : kNamed) {
    const std::string layers = std::to_string(named.size.layers);
    entries.push_back({{named.name, "T5",
                        "encoder and decoder of " + layers + " layers each, width " +
                            std::to_string(named.size.hidden),
                        parameters(named.size)},
                       build_t5});
  }
  return entries;
}

}  // namespace foretrain::zoo
