// SPDX-License-Identifier: Apache-2.0
// Decoders with rotary positions, RMS norm and gated feed-forward layers, as Hugging Face's
// LlamaForCausalLM runs them; Mistral has the same operators.
// Source: Touvron et al., arXiv 2302.13971 and 2307.09288; transformers, modeling_llama.py.
#include <algorithm>
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
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t ffn = 0;
  std::int64_t vocab = 0;
  std::int64_t seq = 0;
};

// Cosine and sine of each position's angles: [1, 1, seq, head size].
struct Angles {
  TensorId cos;
  TensorId sin;
};

// x cos + rotated(x) sin, where rotated (a, b) = (-b, a).
TensorId rotate(Builder& builder, TensorId x, const Angles& angles) {
  const std::int64_t half = builder.shape(x)[3].factor / 2;
  const TensorId straight = builder.add(Kind::Mul, {x, angles.cos});
  const TensorId front = builder.add(
      Kind::Slice, {x}, Attributes{{Attr::Axis, {3}}, {Attr::Start, {0}}, {Attr::End, {half}}});
  const TensorId back =
      builder.add(Kind::Slice, {x},
                  Attributes{{Attr::Axis, {3}}, {Attr::Start, {half}}, {Attr::End, {2 * half}}});
  const TensorId turned = builder.add(Kind::Concat, {builder.add(Kind::Neg, {back}), front},
                                      Attributes{{Attr::Axis, {3}}});
  return builder.add(Kind::Add, {straight, builder.add(Kind::Mul, {turned, angles.sin})});
}

TensorId self_attention(Builder& builder, TensorId x, const Angles& angles, const Size& size) {
  const Scope scope(builder, "self_attn");
  const std::int64_t head = size.hidden / size.heads;
  const auto heads = [&](const char* name, std::int64_t count) {
    return split_heads(builder, linear_unbiased(builder, name, x, count * head), count);
  };
  const TensorId q = heads("q_proj", size.heads);
  const TensorId k = heads("k_proj", size.kv_heads);
  const TensorId v = heads("v_proj", size.kv_heads);
  const TensorId turned_q = rotate(builder, q, angles);
  const TensorId turned_k = rotate(builder, k, angles);
  const TensorId attended = attend(builder, turned_q, turned_k, v, {.causal = true});
  return linear_unbiased(builder, "o_proj", merge_heads(builder, attended), size.hidden);
}

TensorId feed_forward(Builder& builder, TensorId x, const Size& size) {
  const Scope scope(builder, "mlp");
  const TensorId gate =
      builder.add(Kind::Silu, {linear_unbiased(builder, "gate_proj", x, size.ffn)});
  const TensorId up = linear_unbiased(builder, "up_proj", x, size.ffn);
  return linear_unbiased(builder, "down_proj", builder.add(Kind::Mul, {gate, up}), size.hidden);
}

TensorId layer(Builder& builder, TensorId x, const Angles& angles, const Size& size) {
  const TensorId normed = rms_norm(builder, "input_layernorm", x);
  const TensorId middle =
      builder.add(Kind::Add, {x, self_attention(builder, normed, angles, size)});
  const TensorId again = rms_norm(builder, "post_attention_layernorm", middle);
  return builder.add(Kind::Add, {middle, feed_forward(builder, again, size)});
}

graph::Graph build_decoder(const std::string& name, const Size& size) {
  Builder builder(name);
  const Shape tokens{builder.batch(), size.seq};
  const TensorId ids = builder.input("input_ids", tokens, DType::I64);
  builder.enter("model");
  TensorId x = embed(builder, "embed_tokens", ids, size.vocab, size.hidden);
  const Shape angle{1, 1, size.seq, size.hidden / size.heads};
  const Angles angles{builder.buffer("rotary_emb.cos_cached", angle),
                      builder.buffer("rotary_emb.sin_cached", angle)};
  for (std::int64_t i = 0; i < size.layers; ++i) {
    const Scope scope(builder, "layers." + std::to_string(i));
    x = layer(builder, x, angles, size);
  }
  x = rms_norm(builder, "norm", x);
  builder.leave();
  const TensorId logits = linear_unbiased(builder, "lm_head", x, size.vocab);
  builder.output(logits);
  builder.loss(token_cross_entropy(builder, logits, builder.input("labels", tokens, DType::I64)));
  return builder.finish();
}

void check(const Size& size) {
  const auto require = [](bool fits, const std::string& what) {
    if (!fits) throw Error(ErrorKind::BadInput, "model 'llama': " + what);
  };
  require(size.hidden % (2 * size.heads) == 0,
          "hidden=" + std::to_string(size.hidden) + " is not an even multiple of heads=" +
              std::to_string(size.heads));
  require(size.heads % size.kv_heads == 0, "kv_heads=" + std::to_string(size.kv_heads) +
                                               " does not divide heads=" +
                                               std::to_string(size.heads));
}

// The published sizes; `seq` is the length that they were pretrained with.
struct Named {
  const char* name;
  const char* about;
  Size size;
};

const Named kNamed[] = {
    {"llama-7b", "32 layers, width 4096", {32, 4096, 32, 32, 11008, 32000, 2048}},
    {"llama2-7b", "32 layers, width 4096", {32, 4096, 32, 32, 11008, 32000, 4096}},
    {"llama2-13b", "40 layers, width 5120", {40, 5120, 40, 40, 13824, 32000, 4096}},
    {"llama2-70b", "80 layers, width 8192, 8 key heads", {80, 8192, 64, 8, 28672, 32000, 4096}},
    {"llama3-8b", "32 layers, width 4096, 8 key heads", {32, 4096, 32, 8, 14336, 128256, 8192}},
    {"llama3-70b", "80 layers, width 8192, 8 key heads", {80, 8192, 64, 8, 28672, 128256, 8192}},
    {"mistral-7b", "32 layers, width 4096, 8 key heads", {32, 4096, 32, 8, 14336, 32000, 8192}},
};

graph::Graph build_named(Spec& spec) {
  const auto* named = std::find_if(std::begin(kNamed), std::end(kNamed),
                                   [&](const Named& n) { return n.name == spec.name(); });
  Size size = named->size;
  size.seq = spec.take("seq", size.seq);
  size.vocab = spec.take("vocab", size.vocab);
  return build_decoder(spec.name(), size);
}

graph::Graph build_llama(Spec& spec) {
  Size size;
  size.layers = spec.take("layers", 32, 1, 10000);
  size.hidden = spec.take("hidden", 4096);
  size.heads = spec.take("heads", 32);
  size.kv_heads = spec.take("kv_heads", size.heads);
  size.ffn = spec.take("ffn", 11008);
  size.seq = spec.take("seq", 4096);
  size.vocab = spec.take("vocab", 32000);
  check(size);
  return build_decoder(spec.name(), size);
}

}  // namespace

std::vector<Entry> llama_entries() {
  std::vector<Entry> entries;
  for (const Named& named : kNamed) {
    entries.push_back({{named.name, "Llama", named.about,
                        "seq=" + std::to_string(named.size.seq) +
                            ", vocab=" + std::to_string(named.size.vocab)},
                       build_named});
  }
  entries.push_back({{"llama", "Llama", "of any size, as Hugging Face runs it",
                      "layers=32, hidden=4096, heads=32, kv_heads=heads, ffn=11008, seq=4096, "
                      "vocab=32000"},
                     build_llama});
  return entries;
}

}  // namespace foretrain::zoo
