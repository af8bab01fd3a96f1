// SPDX-License-Identifier: Apache-2.0
// OPT, as Hugging Face's OPTForCausalLM runs it: ReLU, copies of the heads, the head tied.
// Source: Zhang et al., arXiv 2205.01068; transformers, modeling_opt.py.
#include <algorithm>
#include <string>

#include "foretrain/zoo/registry.h"
#include "foretrain/zoo/transformer_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::Shape;
using graph::TensorId;

struct Size {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t vocab = 50272;
  std::int64_t seq = 2048;
};

constexpr std::int64_t kPositions = 2048;
constexpr std::int64_t kUnusedPositions = 2;  // rows in front that no position takes

TensorId self_attention(Builder& builder, TensorId x, const Size& size) {
  const Scope scope(builder, "self_attn");
  const auto heads = [&](const char* name) {
    const TensorId all = linear(builder, name, x, size.hidden);
    return builder.add(Kind::Contiguous, {split_heads(builder, all, size.heads)});
  };
  const TensorId q = heads("q_proj");
  const TensorId k = heads("k_proj");
  const TensorId v = heads("v_proj");
  // Hugging Face adds one mask for causality and padding, then bounds the scores from below:
  // two passes over the scores, as here.
  const TensorId attended = attend(builder, q, k, v, {.causal = true, .mask = true});
  return linear(builder, "out_proj", merge_heads(builder, attended), size.hidden);
}

TensorId layer(Builder& builder, TensorId x, const Size& size) {
  const TensorId attended =
      self_attention(builder, layer_norm(builder, "self_attn_layer_norm", x), size);
  const TensorId middle = builder.add(Kind::Add, {x, dropout(builder, "", attended)});
  TensorId y = layer_norm(builder, "final_layer_norm", middle);
  y = builder.add(Kind::Relu, {linear(builder, "fc1", y, 4 * size.hidden)});
  y = dropout(builder, "", linear(builder, "fc2", y, size.hidden));
  return builder.add(Kind::Add, {middle, y});
}

graph::Graph build_decoder(const std::string& name, const Size& size) {
  Builder builder(name);
  const Shape tokens{builder.batch(), size.seq};
  const TensorId ids = builder.input("input_ids", tokens, DType::I64);
  TensorId table{};
  builder.enter("model.decoder");
  const TensorId words = embed(builder, "embed_tokens", ids, size.vocab, size.hidden, &table);
  const std::int64_t rows = position_rows(builder, kPositions, size.seq) + kUnusedPositions;
  TensorId x = builder.add(
      Kind::Add, {words, embed_positions(builder, "embed_positions", rows, size.seq, size.hidden)});
  for (std::int64_t i = 0; i < size.layers; ++i) {
    const Scope scope(builder, "layers." + std::to_string(i));
    x = layer(builder, x, size);
  }
  x = layer_norm(builder, "final_layer_norm", x);
  builder.leave();
  builder.enter("lm_head");
  const TensorId logits = builder.add(Kind::Linear, {x, table});
  builder.leave();
  builder.output(logits);
  builder.loss(token_cross_entropy(builder, logits, builder.input("labels", tokens, DType::I64)));
  return builder.finish();
}

struct Named {
  const char* name;
  const char* about;
  Size size;
};

const Named kNamed[] = {
    {"opt-125m", "decoder of 12 layers, width 768", {12, 768, 12}},
    {"opt-1.3b", "decoder of 24 layers, width 2048", {24, 2048, 32}},
    {"opt-2.7b", "decoder of 32 layers, width 2560", {32, 2560, 32}},
    {"opt-6.7b", "decoder of 32 layers, width 4096", {32, 4096, 32}},
    {"opt-13b", "decoder of 40 layers, width 5120", {40, 5120, 40}},
    {"opt-30b", "decoder of 48 layers, width 7168", {48, 7168, 56}},
    {"opt-66b", "decoder of 64 layers, width 9216", {64, 9216, 72}},
};

graph::Graph build_opt(Spec& spec) {
  const auto* named = std::find_if(std::begin(kNamed), std::end(kNamed),
                                   [&](const Named& n) { return n.name == spec.name(); });
  Size size = named->size;
  size.seq = spec.take("seq", size.seq);
  size.vocab = spec.take("vocab", size.vocab);
  return build_decoder(spec.name(), size);
}

}  // namespace

std::vector<Entry> opt_entries() {
  std::vector<Entry> entries;
  for (const Named& named : kNamed) {
    entries.push_back({{named.name, "OPT", named.about, "seq=2048, vocab=50272"}, build_opt});
  }
  return entries;
}

}  // namespace foretrain::zoo
