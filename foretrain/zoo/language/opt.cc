// SPDX-License-Identifier: Apache-2.0
// OPT, as Hugging Face's OPTForCausalLM runs it: ReLU, copies of the heads, the head tied.
// Source: Zhang et al., arXiv 2205.01068; transformers, modeling_opt.py.
#include <string>

#include "foretrain/zoo/detail/activation.h"
#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/language/transformer_layers.h"
#include "foretrain/zoo/language/transformer_size.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

struct Size : TransformerSize {
  std::int64_t embedding = 0;  // width of the table; 0: hidden
  bool norm_first = true;      // before attention and feed-forward layer; else after the sums
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
  TensorId x = add_positions(builder, "embed_positions", words, size.positions, kUnusedPositions);
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
  Size size;
  const char* remark = "";
};

const Named kNamed[] = {
    {"opt-125m", {{12, 768, 12, 50272, 2048, "relu"}}},
    {"opt-350m", {{24, 1024, 16, 50272, 2048, "relu"}, 512, false}, ", norms last"},
    {"opt-1.3b", {{24, 2048, 32, 50272, 2048, "relu"}}},
    {"opt-2.7b", {{32, 2560, 32, 50272, 2048, "relu"}}},
    {"opt-6.7b", {{32, 4096, 32, 50272, 2048, "relu"}}},
    {"opt-13b", {{40, 5120, 40, 50272, 2048, "relu"}}},
    {"opt-30b", {{48, 7168, 56, 50272, 2048, "relu"}}},
    {"opt-66b", {{64, 9216, 72, 50272, 2048, "relu"}}},
};

graph::Graph build_opt(Spec& spec) {
  Size size = row_of(kNamed, spec).size;
  take_sizes(spec, size);
  take_positions(spec, size);
  size.embedding = spec.take("embedding", size.embedding == 0 ? size.hidden : size.embedding);
  size.norm_first = spec.take("norm_first", size.norm_first ? 1 : 0, 0, 1) != 0;
  size.tied = spec.take("tied", 1, 0, 1) != 0;
  return build_decoder(spec.name(), size);
}

}  // namespace

std::vector<Entry> opt_entries() {
  std::vector<Entry> entries;
  for (const Named& named : kNamed) {
    const Size& size = named.size;
    const std::string embedding = size.embedding == 0 ? "hidden" : std::to_string(size.embedding);
    entries.push_back({{named.name, "OPT", decoder_of(size.layers, size.hidden) + named.remark,
                        describe_sizes(size) + ", positions=2048, embedding=" + embedding +
                            ", norm_first=" + (size.norm_first ? "1" : "0") + ", act=relu, tied=1"},
                       build_opt});
  }
  return entries;
}

}  // namespace foretrain::zoo
