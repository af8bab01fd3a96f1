// SPDX-License-Identifier: Apache-2.0
// Decoders with learned positions: GPT-2 and GPT-3 sizes as Hugging Face's GPT2LMHeadModel runs
// them, and `gpt` of any size. The head that predicts tokens is the embedding's own table.
// Source: Radford et al., 2019; Brown et al., NeurIPS 2020; transformers, modeling_gpt2.py.
#include <string>

#include "foretrain/zoo/detail/activation.h"
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

struct Size : TransformerSize {
  bool tied = true;
};

TensorId self_attention(Builder& builder, TensorId x, const Size& size) {
  const Scope scope(builder, "attn");
  const TensorId attended =
      attend_jointly(builder, x, size.heads, "c_attn", "c_proj", {.causal = true, .dropout = true});
  return dropout(builder, "resid_dropout", attended);
}

TensorId feed_forward(Builder& builder, TensorId x, const Size& size) {
  const Scope scope(builder, "mlp");
  const TensorId inner = linear(builder, "c_fc", x, size.ffn);
  TensorId active{};
  {
    const Scope act(builder, "act");
    active = activate(builder, size.activation, inner);
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
  return build_positional_decoder(
      name, {size.seq, size.vocab, size.hidden, size.positions, size.layers, "h", "ln_f",
             /*dropout=*/true, size.tied,
             [&size](Builder& builder, TensorId x) { return block(builder, x, size); }});
}

// The published sizes. The activation gelu_new is eight kernels, gelu is one.
struct Named {
  const char* name;
  Size size;
  const char* remark = "";
};

const Named kNamed[] = {
    {"gpt2", {{12, 768, 12, 50257, 1024, "gelu_new"}}},
    {"gpt2-medium", {{24, 1024, 16, 50257, 1024, "gelu_new"}}},
    {"gpt2-large", {{36, 1280, 20, 50257, 1024, "gelu_new"}}},
    {"gpt2-xl", {{48, 1600, 25, 50257, 1024, "gelu_new"}}},
    // Brown et al. give 24 heads of 128 but a width of 2048, which do not agree; the measured
    // models of NeuSight (Lee et al., ASPLOS 2025) take the heads: 24 * 128 = 3072.
    {"gpt3-xl", {{24, 3072, 24, 50257, 2048, "gelu_new"}}, " (24 heads of 128)"},
    {"gpt3-2.7b", {{32, 2560, 32, 50257, 2048, "gelu_new"}}},
    // The other sizes of Brown et al., table 2.1, as Megatron-LM trains them: GELU is one kernel
    // and the vocabulary is padded to a multiple of 1024. 13B has 40 heads of 128 there, hence a
    // width of 5120 and not 5140.
    {"gpt3-small", {{12, 768, 12, 51200, 2048}}},
    {"gpt3-medium", {{24, 1024, 16, 51200, 2048}}},
    {"gpt3-large", {{24, 1536, 16, 51200, 2048}}},
    {"gpt3-1.3b", {{24, 2048, 16, 51200, 2048}}},
    {"gpt3-6.7b", {{32, 4096, 32, 51200, 2048}}},
    {"gpt3-13b", {{40, 5120, 40, 51200, 2048}}},
    {"gpt3-175b", {{96, 12288, 96, 51200, 2048}}},
};

graph::Graph build_named(Spec& spec) {
  Size size = row_of(kNamed, spec).size;
  take_sizes(spec, size);
  take_positions(spec, size);
  size.tied = spec.take("tied", 1, 0, 1) != 0;
  return build_decoder(spec.name(), size);
}

graph::Graph build_gpt(Spec& spec) {
  Size size{{24, 1024, 16, 51200, 1024}};
  take_sizes(spec, size);
  size.seq = spec.take("seq", size.seq);
  size.positions = size.seq;
  return build_decoder(spec.name(), size);
}

}  // namespace

std::vector<Entry> gpt_entries() {
  std::vector<Entry> entries;
  for (const Named& named : kNamed) {
    const Size& size = named.size;
    entries.push_back({{named.name, "GPT", decoder_of(size.layers, size.hidden) + named.remark,
                        describe_sizes(size) + ", positions=" + std::to_string(size.seq) +
                            ", act=" + size.activation + ", tied=1"},
                       build_named});
  }
  entries.push_back(
      {{"gpt", "GPT", "decoder of any size, as Megatron-LM trains it",
        "layers=24, hidden=1024, heads=16, seq=1024, vocab=51200, ffn=4*hidden, act=gelu"},
       build_gpt});
  return entries;
}

}  // namespace foretrain::zoo
