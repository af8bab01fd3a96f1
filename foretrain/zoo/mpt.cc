// SPDX-License-Identifier: Apache-2.0
// MPT, as MosaicML's LLM Foundry pretrains it: learned positions, one for each token of the
// sequence, no dropout, the head tied to the embedding. The released mpt-7b and mpt-30b differ:
// they have ALiBi and no biases.
// Source: llm-foundry, scripts/train/yamls/pretrain/mpt-*.yaml and models/mpt/modeling_mpt.py.
#include <algorithm>
#include <string>

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
  std::int64_t vocab = 50368;
  std::int64_t seq = 2048;
};

TensorId self_attention(Builder& builder, TensorId x, const Size& size) {
  const Scope scope(builder, "attn");
  const TensorId qkv = linear(builder, "Wqkv", x, 3 * size.hidden);
  const std::vector<TensorId> parts = builder.add_all(
      Kind::Split, {qkv},
      Attributes{{Attr::Axis, {2}}, {Attr::Sizes, {size.hidden, size.hidden, size.hidden}}});
  const TensorId q = split_heads(builder, parts[0], size.heads);
  const TensorId k = split_heads(builder, parts[1], size.heads);
  const TensorId v = split_heads(builder, parts[2], size.heads);
  const TensorId attended = attend(builder, q, k, v, {.causal = true});
  return linear(builder, "out_proj", merge_heads(builder, attended), size.hidden);
}

TensorId feed_forward(Builder& builder, TensorId x, const Size& size) {
  const Scope scope(builder, "ffn");
  const TensorId inner = builder.add(Kind::Gelu, {linear(builder, "up_proj", x, 4 * size.hidden)});
  return linear(builder, "down_proj", inner, size.hidden);
}

TensorId block(Builder& builder, TensorId x, const Size& size) {
  const TensorId attended = self_attention(builder, layer_norm(builder, "norm_1", x), size);
  const TensorId middle = builder.add(Kind::Add, {x, attended});
  const TensorId fed = feed_forward(builder, layer_norm(builder, "norm_2", middle), size);
  return builder.add(Kind::Add, {middle, fed});
}

graph::Graph build_decoder(const std::string& name, const Size& size) {
  Builder builder(name);
  const Shape tokens{builder.batch(), size.seq};
  const TensorId ids = builder.input("input_ids", tokens, DType::I64);
  TensorId table{};
  builder.enter("transformer");
  const TensorId words = embed(builder, "wte", ids, size.vocab, size.hidden, &table);
  const TensorId positions = embed_positions(builder, "wpe", size.seq, size.seq, size.hidden);
  TensorId x = builder.add(Kind::Add, {words, positions});
  for (std::int64_t i = 0; i < size.layers; ++i) {
    const Scope scope(builder, "blocks." + std::to_string(i));
    x = block(builder, x, size);
  }
  x = layer_norm(builder, "norm_f", x);
  const TensorId logits = builder.add(Kind::Linear, {x, table});
  builder.leave();
  builder.output(logits);
  builder.loss(token_cross_entropy(builder, logits, builder.input("labels", tokens, DType::I64)));
  return builder.finish();
}

struct Named {
  const char* name;
  Size size;
};

// Heads of 128 from 1b on, as FlashAttention asked for.
const Named kNamed[] = {
    {"mpt-125m", {12, 768, 12}}, {"mpt-350m", {24, 1024, 16}}, {"mpt-760m", {24, 1536, 12}},
    {"mpt-1b", {24, 2048, 16}},  {"mpt-3b", {32, 2560, 20}},   {"mpt-7b", {32, 4096, 32}},
    {"mpt-13b", {40, 5120, 40}}, {"mpt-30b", {48, 7168, 56}},  {"mpt-70b", {80, 8192, 64}},
};

graph::Graph build_mpt(Spec& spec) {
  const auto* named = std::find_if(std::begin(kNamed), std::end(kNamed),
                                   [&](const Named& n) { return n.name == spec.name(); });
  Size size = named->size;
  size.seq = spec.take("seq", size.seq);
  size.vocab = spec.take("vocab", size.vocab);
  return build_decoder(spec.name(), size);
}

}  // namespace

std::vector<Entry> mpt_entries() {
  std::vector<Entry> entries;
  for (const Named& named : kNamed) {
    entries.push_back({{named.name, "MPT",
                        "decoder of " + std::to_string(named.size.layers) + " layers, width " +
                            std::to_string(named.size.hidden) + ", as LLM Foundry trains it",
                        "seq=2048, vocab=50368"},
                       build_mpt});
  }
  return entries;
}

}  // namespace foretrain::zoo
