// SPDX-License-Identifier: Apache-2.0
// BART, as Hugging Face's BartForConditionalGeneration runs it: an encoder and a decoder with
// learned positions, norms after the sums, one table for both and for the prediction.
// Source: Lewis et al., ACL 2020; transformers, modeling_bart.py.
#include <string>

#include "foretrain/zoo/detail/activation.h"
#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/language/post_norm_layers.h"
#include "foretrain/zoo/language/transformer_layers.h"
#include "foretrain/zoo/language/transformer_size.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

struct Size : TransformerSize {
  std::int64_t decoder_layers = 0;  // by default as many as the encoder's
  std::int64_t target = 0;          // tokens of the decoder; by default as many as the encoder's
};

constexpr std::int64_t kUnusedPositions = 2;  // rows in front that no position takes

PostNormLayer layer_of(Builder& builder, const Size& size) {
  return {size.heads, "", [&builder, &size](TensorId x) {
            x = activate(builder, size.activation, linear(builder, "fc1", x, size.ffn));
            return linear(builder, "fc2", x, size.hidden);
          }};
}

// Words and their positions, normalized.
TensorId embed_words(Builder& builder, TensorId ids, TensorId table, const Size& size) {
  const TensorId words = builder.add(Kind::Embedding, {ids, table});
  const TensorId sum =
      add_positions(builder, "embed_positions", words, size.positions, kUnusedPositions);
  return dropout(builder, "", layer_norm(builder, "layernorm_embedding", sum));
}

TensorId encode(Builder& builder, TensorId ids, TensorId table, const Size& size) {
  const Scope scope(builder, "encoder");
  const TensorId x = embed_words(builder, ids, table, size);
  return run_encoder_layers(builder, x, size.layers, layer_of(builder, size));
}

TensorId decode(Builder& builder, TensorId ids, TensorId table, TensorId source, const Size& size) {
  const Scope scope(builder, "decoder");
  const TensorId x = embed_words(builder, ids, table, size);
  return run_decoder_layers(builder, x, source, size.decoder_layers, layer_of(builder, size));
}

graph::Graph build_model(const std::string& name, const Size& size) {
  Builder builder(name);
  const TensorId ids = builder.input("input_ids", {builder.batch(), size.seq}, DType::I64);
  const TensorId before =
      builder.input("decoder_input_ids", {builder.batch(), size.target}, DType::I64);
  builder.enter("model");
  const TensorId table = builder.parameter("shared.weight", {size.vocab, size.hidden});
  const TensorId source = encode(builder, ids, table, size);
  const TensorId x = decode(builder, before, table, source, size);
  builder.leave();
  const TensorId bias = builder.buffer("final_logits_bias", {1, size.vocab});
  builder.enter("lm_head");
  const TensorId logits = builder.add(Kind::Add, {builder.add(Kind::Linear, {x, table}), bias});
  builder.leave();
  return finish_tokens(builder, logits, "labels");
}

struct Named {
  const char* name;
  const char* about;
  Size size;
};

const Named kNamed[] = {
    {"bart-base", "encoder and decoder of 6 layers each, width 768", {{6, 768, 12, 50265, 1024}}},
    {"bart-large",
     "encoder and decoder of 12 layers each, width 1024",
     {{12, 1024, 16, 50265, 1024}}},
};

graph::Graph build_bart(Spec& spec) {
  Size size = row_of(kNamed, spec).size;
  take_sizes(spec, size);
  take_positions(spec, size);
  size.decoder_layers = spec.take("decoder_layers", size.layers, 1, kMostLayers);
  size.target = spec.take("target", size.seq);
  return build_model(spec.name(), size);
}

}  // namespace

std::vector<Entry> bart_entries() {
  std::vector<Entry> entries;
  for (const Named& named : kNamed) {
    entries.push_back(
        {{named.name, "BART", named.about,
          "seq=1024, target=seq, vocab=50265, layers=" + std::to_string(named.size.layers) +
              ", decoder_layers=layers, hidden=" + std::to_string(named.size.hidden) + ", heads=" +
              std::to_string(named.size.heads) + ", ffn=4*hidden, positions=1024, act=gelu"},
         build_bart});
  }
  return entries;
}

}  // namespace foretrain::zoo
