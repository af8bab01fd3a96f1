// SPDX-License-Identifier: Apache-2.0
// MPT, as MosaicML's LLM Foundry pretrains it: learned positions, one for each token of the
// sequence, no dropout, the head tied to the embedding. The released mpt-7b and mpt-30b differ:
// they have ALiBi and no biases.
// Source: llm-foundry, scripts/train/yamls/pretrain/mpt-*.yaml and models/mpt/modeling_mpt.py.
#include <string>

#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/language/positional_decoder.h"
#include "foretrain/zoo/language/transformer_layers.h"
#include "foretrain/zoo/language/transformer_size.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

using Size = TransformerSize;

TensorId self_attention(Builder& builder, TensorId x, const Size& size) {
  const Scope scope(builder, "attn");
  return attend_jointly(builder, x, size.heads, "Wqkv", "out_proj", {.causal = true});
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
  return build_positional_decoder(
      name, {size.seq, size.vocab, size.hidden, size.seq, size.layers, "blocks", "norm_f",
             /*dropout=*/false, /*tied=*/true,
             [&size](Builder& builder, TensorId x) { return block(builder, x, size); }});
}

struct Named {
  const char* name;
  Size size;
};

// Heads of 128 from 1b on, as FlashAttention asked for.
const Named kNamed[] = {
    {"mpt-125m", {12, 768, 12, 50368, 2048}},  {"mpt-350m", {24, 1024, 16, 50368, 2048}},
    {"mpt-760m", {24, 1536, 12, 50368, 2048}}, {"mpt-1b", {24, 2048, 16, 50368, 2048}},
    {"mpt-3b", {32, 2560, 20, 50368, 2048}},   {"mpt-7b", {32, 4096, 32, 50368, 2048}},
    {"mpt-13b", {40, 5120, 40, 50368, 2048}},  {"mpt-30b", {48, 7168, 56, 50368, 2048}},
    {"mpt-70b", {80, 8192, 64, 50368, 2048}},
};

graph::Graph build_mpt(Spec& spec) {
  Size size = row_of(kNamed, spec).size;
  size.seq = spec.take("seq", size.seq);
  size.vocab = spec.take("vocab", size.vocab);
  return build_decoder(spec.name(), size);
}

}  // namespace

std::vector<Entry> mpt_entries() {
  std::vector<Entry> entries;
  for (const Named& named : kNamed) {
    entries.push_back(
        {{named.name, "MPT",
          decoder_of(named.size.layers, named.size.hidden) + ", as LLM Foundry trains it",
          "seq=2048, vocab=50368"},
         build_mpt});
  }
  return entries;
}

}  // namespace foretrain::zoo
