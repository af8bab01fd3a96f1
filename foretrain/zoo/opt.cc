// SPDX-License-Identifier: Apache-2.0
// OPT, as Hugging Face's OPTForCausalLM runs it: ReLU, copies of the heads, the head tied.
// Source: Zhang et al., arXiv 2205.01068; transformers, modeling_opt.py.
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
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t embedding = 0;  // width of the table; 0: hidden
  bool norm_first = true;      // before attention and feed-forward layer; else after the sums
  std::int64_t vocab = 50272;
  std::int64_t seq = 2048;
  std::int64_t ffn = 0;  // 0: 4 hidden
  std::int64_t positions = 2048;
  std::string activation = "relu";
  bool tied = true;
};

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

// `block` beside a residual connection, its norm in front or behind.
template <typename Block>
TensorId residual(Builder& builder, const char* norm, TensorId x, const Size& size, Block block) {
  const TensorId in = size.norm_first ? layer_norm(builder, norm, x) : x;
  const TensorId sum = builder.add(Kind::Add, {x, dropout(builder, "", block(in))});
  return size.norm_first ? sum : layer_norm(builder, norm, sum);
}

TensorId layer(Builder& builder, TensorId x, const Size& size) {
  x = residual(builder, "self_attn_layer_norm", x, size,
               [&](TensorId in) { return self_attention(builder, in, size); });
  return residual(builder, "final_layer_norm", x, size, [&](TensorId in) {
    const TensorId inner = linear(builder, "fc1", in, size.ffn);
    return linear(builder, "fc2", activate(builder, size.activation, inner), size.hidden);
  });
}

// The decoder's last vectors, as wide as the embedding; `table` receives it.
TensorId decode(Builder& builder, TensorId ids, const Size& size, TensorId* table) {
  const Scope scope(builder, "model.decoder");
  const bool narrow = size.embedding != size.hidden;
  TensorId words = embed(builder, "embed_tokens", ids, size.vocab, size.embedding, table);
  if (narrow) words = linear_unbiased(builder, "project_in", words, size.hidden);
  const std::int64_t rows = position_rows(builder, size.positions, size.seq) + kUnusedPositions;
  TensorId x = builder.add(
      Kind::Add, {words, embed_positions(builder, "embed_positions", rows, size.seq, size.hidden)});
  for (std::int64_t i = 0; i < size.layers; ++i) {
    const Scope inner(builder, "layers." + std::to_string(i));
    x = layer(builder, x, size);
  }
  if (size.norm_first) x = layer_norm(builder, "final_layer_norm", x);
  return narrow ? linear_unbiased(builder, "project_out", x, size.embedding) : x;
}

graph::Graph build_decoder(const std::string& name, const Size& size) {
  Builder builder(name);
  const TensorId ids = builder.input("input_ids", {builder.batch(), size.seq}, DType::I64);
  TensorId table{};
  const TensorId x = decode(builder, ids, size, &table);
  return finish_language_model(builder, x, "lm_head", table, size.tied);
}

struct Named {
  const char* name;
  const char* about;
  Size size;
};

const Named kNamed[] = {
    {"opt-125m", "decoder of 12 layers, width 768", {12, 768, 12}},
    {"opt-350m", "decoder of 24 layers, width 1024, norms last", {24, 1024, 16, 512, false}},
    {"opt-1.3b", "decoder of 24 layers, width 2048", {24, 2048, 32}},
    {"opt-2.7b", "decoder of 32 layers, width 2560", {32, 2560, 32}},
    {"opt-6.7b", "decoder of 32 layers, width 4096", {32, 4096, 32}},
    {"opt-13b", "decoder of 40 layers, width 5120", {40, 5120, 40}},
    {"opt-30b", "decoder of 48 layers, width 7168", {48, 7168, 56}},
    {"opt-66b", "decoder of 64 layers, width 9216", {64, 9216, 72}},
};

graph::Graph build_opt(Spec& spec) {
  Size size = row_of(kNamed, spec).size;
  size.vocab = spec.take("vocab", size.vocab);
  size.layers = spec.take("layers", size.layers, 1, kMostLayers);
  size.hidden = spec.take("hidden", size.hidden);
  size.heads = spec.take("heads", size.heads);
  size.ffn = spec.take("ffn", 4 * size.hidden);
  size.positions = spec.take("positions", size.positions);
  size.seq = spec.take("seq", size.positions);
  size.embedding = spec.take("embedding", size.embedding == 0 ? size.hidden : size.embedding);
  size.norm_first = spec.take("norm_first", size.norm_first ? 1 : 0, 0, 1) != 0;
  size.activation = spec.take_text("act", size.activation, activation_names());
  size.tied = spec.take("tied", 1, 0, 1) != 0;
  require_heads(spec, size.hidden, size.heads);
  return build_decoder(spec.name(), size);
}

}  // namespace

std::vector<Entry> opt_entries() {
  std::vector<Entry> entries;
  for (const Named& named : kNamed) {
    const Size& size = named.size;
    const std::string parameters =
        "seq=2048, vocab=50272, layers=" + std::to_string(size.layers) +
        ", hidden=" + std::to_string(size.hidden) + ", heads=" + std::to_string(size.heads) +
        ", ffn=4*hidden, positions=2048, embedding=" +
        (size.embedding == 0 ? "hidden" : std::to_string(size.embedding)) +
        ", norm_first=" + (size.norm_first ? "1" : "0") + ", act=relu, tied=1";
    entries.push_back({{named.name, "OPT", named.about, parameters}, build_opt});
  }
  return entries;
}

}  // namespace foretrain::zoo
