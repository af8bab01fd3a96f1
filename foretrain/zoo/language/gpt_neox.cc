// SPDX-License-Identifier: Apache-2.0
// GPT-NeoX and Pythia, as Hugging Face's GPTNeoXForCausalLM runs them: rotary positions of a
// part of each head, attention and feed-forward layer side by side, a head of its own.
// Source: Black et al., arXiv 2204.06745; Biderman et al., ICML 2023; transformers,
// modeling_gpt_neox.py.
#include <string>

#include "foretrain/base/error.h"
#include "foretrain/zoo/detail/activation.h"
#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/language/rotary.h"
#include "foretrain/zoo/language/transformer_layers.h"
#include "foretrain/zoo/language/transformer_size.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

struct Size : TransformerSize {
  std::int64_t rotary_percent = 25;  // of each head
  bool parallel = true;              // attention and feed-forward layer read the same input
  bool tied = false;
};

// Features of a head that turn.
std::int64_t turning(const Size& size) {
  return size.hidden / size.heads * size.rotary_percent / 100;
}

TensorId self_attention(Builder& builder, TensorId x, const Angles& angles, const Size& size) {
  const Scope scope(builder, "attention");
  const std::int64_t head = size.hidden / size.heads;
  const TensorId all = linear(builder, "query_key_value", x, 3 * size.hidden);
  const std::vector<TensorId> parts =
      builder.add_all(Kind::Split, {split_heads(builder, all, size.heads)},
                      Attributes{{Attr::Axis, {3}}, {Attr::Sizes, {head, head, head}}});
  const TensorId q = rotate(builder, parts[0], angles);
  const TensorId k = rotate(builder, parts[1], angles);
  const TensorId attended = attend(builder, q, k, parts[2], {.causal = true});
  return linear(builder, "dense", merge_heads(builder, attended), size.hidden);
}

TensorId feed_forward(Builder& builder, TensorId x, const Size& size) {
  const Scope scope(builder, "mlp");
  const TensorId inner = linear(builder, "dense_h_to_4h", x, size.ffn);
  return linear(builder, "dense_4h_to_h", activate(builder, size.activation, inner), size.hidden);
}

TensorId layer(Builder& builder, TensorId x, const Angles& angles, const Size& size) {
  const TensorId attended =
      self_attention(builder, layer_norm(builder, "input_layernorm", x), angles, size);
  const TensorId middle = size.parallel ? x : builder.add(Kind::Add, {attended, x});
  const TensorId fed =
      feed_forward(builder, layer_norm(builder, "post_attention_layernorm", middle), size);
  const TensorId sum = builder.add(Kind::Add, {fed, size.parallel ? attended : middle});
  return size.parallel ? builder.add(Kind::Add, {sum, x}) : sum;
}

graph::Graph build_decoder(const std::string& name, const Size& size) {
  Builder builder(name);
  const TensorId ids = builder.input("input_ids", {builder.batch(), size.seq}, DType::I64);
  TensorId table{};
  builder.enter("gpt_neox");
  TensorId x = embed(builder, "embed_in", ids, size.vocab, size.hidden, &table);
  const Angles angles = rotary_angles(builder, size.seq, turning(size));
  for (std::int64_t i = 0; i < size.layers; ++i) {
    const Scope scope(builder, "layers." + std::to_string(i));
    x = layer(builder, x, angles, size);
  }
  x = layer_norm(builder, "final_layer_norm", x);
  builder.leave();
  return finish_language_model(builder, x, "embed_out", table, size.tied);
}

struct Named {
  const char* name;
  Size size;
};

const Named kNamed[] = {
    {"pythia-70m", {{6, 512, 8, 50304, 2048}}},      {"pythia-160m", {{12, 768, 12, 50304, 2048}}},
    {"pythia-410m", {{24, 1024, 16, 50304, 2048}}},  {"pythia-1b", {{16, 2048, 8, 50304, 2048}}},
    {"pythia-1.4b", {{24, 2048, 16, 50304, 2048}}},  {"pythia-2.8b", {{32, 2560, 32, 50304, 2048}}},
    {"pythia-6.9b", {{32, 4096, 32, 50432, 2048}}},  {"pythia-12b", {{36, 5120, 40, 50688, 2048}}},
    {"gpt-neox-20b", {{44, 6144, 64, 50432, 2048}}},
};

void check(const Spec& spec, const Size& size) {
  if (turning(size) >= 2 && turning(size) % 2 == 0) return;
  throw Error(ErrorKind::BadInput, "model '" + spec.name() +
                                       "': rotary_percent=" + std::to_string(size.rotary_percent) +
                                       " of a head of " + std::to_string(size.hidden / size.heads) +
                                       " is not an even number of features");
}

graph::Graph build_neox(Spec& spec) {
  Size size = row_of(kNamed, spec).size;
  take_sizes(spec, size);
  size.seq = spec.take("seq", size.seq);
  size.rotary_percent = spec.take("rotary_percent", size.rotary_percent, 1, 100);
  size.parallel = spec.take("parallel", 1, 0, 1) != 0;
  size.tied = spec.take("tied", 0, 0, 1) != 0;
  check(spec, size);
  return build_decoder(spec.name(), size);
}

}  // namespace

std::vector<Entry> gpt_neox_entries() {
  std::vector<Entry> entries;
  for (const Named& named : kNamed) {
    const Size& size = named.size;
    entries.push_back({{named.name, "GPT-NeoX", decoder_of(size.layers, size.hidden),
                        describe_sizes(size) + ", rotary_percent=25, parallel=1, act=gelu, tied=0"},
                       build_neox});
  }
  return entries;
}

}  // namespace foretrain::zoo
