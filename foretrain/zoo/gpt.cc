// SPDX-License-Identifier: Apache-2.0
// Decoders with learned positions: GPT-2 and GPT-3 sizes as Hugging Face's GPT2LMHeadModel runs
// them, and `gpt` of any size. The head that predicts tokens is the embedding's own table.
// Source: Radford et al., 2019; Brown et al., NeurIPS 2020; transformers, modeling_gpt2.py.
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
  std::int64_t positions = 0;  // rows of the position table
  std::int64_t vocab = 50257;
  std::int64_t ffn = 0;
  std::int64_t seq = 0;
  bool composed_gelu = true;  // of eight kernels, as Hugging Face; otherwise of one
};

TensorId self_attention(Builder& builder, TensorId x, const Size& size) {
  const Scope scope(builder, "attn");
  const TensorId qkv = linear(builder, "c_attn", x, 3 * size.hidden);
  const std::vector<TensorId> parts = builder.add_all(
      Kind::Split, {qkv},
      Attributes{{Attr::Axis, {2}}, {Attr::Sizes, {size.hidden, size.hidden, size.hidden}}});
  const TensorId q = split_heads(builder, parts[0], size.heads);
  const TensorId k = split_heads(builder, parts[1], size.heads);
  const TensorId v = split_heads(builder, parts[2], size.heads);
  const TensorId attended = attend(builder, q, k, v, {.causal = true, .dropout = true});
  const TensorId merged = merge_heads(builder, attended);
  return dropout(builder, "resid_dropout", linear(builder, "c_proj", merged, size.hidden));
}

TensorId feed_forward(Builder& builder, TensorId x, const Size& size) {
  const Scope scope(builder, "mlp");
  const TensorId inner = linear(builder, "c_fc", x, size.ffn);
  TensorId active{};
  {
    const Scope act(builder, "act");
    active = size.composed_gelu ? gelu_tanh(builder, inner) : builder.add(Kind::Gelu, {inner});
  }
  return dropout(builder, "dropout", linear(builder, "c_proj", active, size.hidden));
}

TensorId block(Builder& builder, TensorId x, const Size& size) {
  const TensorId attended = self_attention(builder, layer_norm(builder, "ln_1", x), size);
  const TensorId middle = builder.add(Kind::Add, {attended, x});
  const TensorId fed = feed_forward(builder, layer_norm(builder, "ln_2", middle), size);
  return builder.add(Kind::Add, {middle, fed});
}

graph::Graph build_decoder(const std::string& name, const Size& size) {
  Builder builder(name);
  const Shape tokens{builder.batch(), size.seq};
  const TensorId ids = builder.input("input_ids", tokens, DType::I64);
  TensorId table{};
  builder.enter("transformer");
  const TensorId words = embed(builder, "wte", ids, size.vocab, size.hidden, &table);
  const std::int64_t rows = position_rows(builder, size.positions, size.seq);
  const TensorId positions = embed_positions(builder, "wpe", rows, size.seq, size.hidden);
  TensorId x = dropout(builder, "drop", builder.add(Kind::Add, {words, positions}));
  for (std::int64_t i = 0; i < size.layers; ++i) {
    const Scope layers(builder, "h." + std::to_string(i));
    x = block(builder, x, size);
  }
  x = layer_norm(builder, "ln_f", x);
  builder.leave();
  builder.enter("lm_head");
  const TensorId logits = builder.add(Kind::Linear, {x, table});
  builder.leave();
  builder.output(logits);
  builder.loss(token_cross_entropy(builder, logits, builder.input("labels", tokens, DType::I64)));
  return builder.finish();
}

// The published sizes.
struct Named {
  const char* name;
  const char* about;
  Size size;
};

const Named kNamed[] = {
    {"gpt2", "decoder of 12 layers, width 768", {12, 768, 12, 1024}},
    {"gpt2-medium", "decoder of 24 layers, width 1024", {24, 1024, 16, 1024}},
    {"gpt2-large", "decoder of 36 layers, width 1280", {36, 1280, 20, 1024}},
    {"gpt2-xl", "decoder of 48 layers, width 1600", {48, 1600, 25, 1024}},
    // Brown et al. give 24 heads of 128 but a width of 2048, which do not agree; the measured
    // models of NeuSight (Lee et al., ASPLOS 2025) take the heads: 24 * 128 = 3072.
    {"gpt3-xl", "decoder of 24 layers, width 3072 (24 heads of 128)", {24, 3072, 24, 2048}},
    {"gpt3-2.7b", "decoder of 32 layers, width 2560", {32, 2560, 32, 2048}},
};

graph::Graph build_named(Spec& spec) {
  const auto* named = std::find_if(std::begin(kNamed), std::end(kNamed),
                                   [&](const Named& n) { return n.name == spec.name(); });
  Size size = named->size;
  size.seq = spec.take("seq", size.positions);
  size.vocab = spec.take("vocab", size.vocab);
  size.ffn = 4 * size.hidden;
  return build_decoder(spec.name(), size);
}

graph::Graph build_gpt(Spec& spec) {
  Size size;
  size.layers = spec.take("layers", 24, 1, 10000);
  size.hidden = spec.take("hidden", 1024);
  size.heads = spec.take("heads", 16);
  size.seq = spec.take("seq", 1024);
  size.vocab = spec.take("vocab", 51200);
  size.ffn = spec.take("ffn", 4 * size.hidden);
  size.positions = size.seq;
  size.composed_gelu = false;
  if (size.hidden % size.heads != 0) {
    throw Error(ErrorKind::BadInput, "model 'gpt': heads=" + std::to_string(size.heads) +
                                         " does not divide hidden=" + std::to_string(size.hidden));
  }
  return build_decoder(spec.name(), size);
}

}  // namespace

std::vector<Entry> gpt_entries() {
  std::vector<Entry> entries;
  for (const Named& named : kNamed) {
    const std::string seq = std::to_string(named.size.positions);
    entries.push_back(
        {{named.name, "GPT", named.about, "seq=" + seq + ", vocab=50257"}, build_named});
  }
  entries.push_back({{"gpt", "GPT", "decoder of any size, as Megatron-LM trains it",
                      "layers=24, hidden=1024, heads=16, seq=1024, vocab=51200, ffn=4*hidden"},
                     build_gpt});
  return entries;
}

}  // namespace foretrain::zoo
