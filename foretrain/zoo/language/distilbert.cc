// SPDX-License-Identifier: Apache-2.0
// DistilBERT, as Hugging Face's DistilBertForMaskedLM and DistilBertModel run it: every second
// layer of BERT, no token types, no pooler.
// Source: Sanh et al., arXiv 1910.01108; transformers, modeling_distilbert.py.
#include <string>

#include "foretrain/zoo/detail/activation.h"
#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/language/bert_encoder.h"
#include "foretrain/zoo/language/transformer_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

TensorId self_attention(Builder& builder, TensorId x, const BertEncoder& size) {
  const Scope scope(builder, "attention");
  const TensorId attended = attend_apart(builder, x, x, size.heads, {"q_lin", "k_lin", "v_lin"},
                                         {.mask = true, .dropout = true});
  return linear(builder, "out_lin", attended, size.hidden);
}

TensorId layer(Builder& builder, TensorId x, const BertEncoder& size) {
  const TensorId attended = self_attention(builder, x, size);
  const TensorId middle =
      layer_norm(builder, "sa_layer_norm", builder.add(Kind::Add, {attended, x}));
  TensorId y{};
  {
    const Scope scope(builder, "ffn");
    y = activate(builder, size.activation, linear(builder, "lin1", middle, size.ffn));
    y = dropout(builder, "dropout", linear(builder, "lin2", y, size.hidden));
  }
  return layer_norm(builder, "output_layer_norm", builder.add(Kind::Add, {y, middle}));
}

Encoded encode_words(Builder& builder, const BertEncoder& size) {
  const TensorId ids = builder.input("input_ids", {builder.batch(), size.seq}, DType::I64);
  Encoded encoded{};
  {
    const Scope scope(builder, "embeddings");
    const TensorId words =
        embed(builder, "word_embeddings", ids, size.vocab, size.hidden, &encoded.word_table);
    const TensorId sum = add_positions(builder, "position_embeddings", words, size.positions);
    encoded.sequence = dropout(builder, "dropout", layer_norm(builder, "LayerNorm", sum));
  }
  const Scope scope(builder, "transformer");
  for (std::int64_t i = 0; i < size.layers; ++i) {
    const Scope one(builder, "layer." + std::to_string(i));
    encoded.sequence = layer(builder, encoded.sequence, size);
  }
  return encoded;
}

// The decoder is the word table, with a bias of its own.
TensorId predict_masked(Builder& builder, const Encoded& encoded, const BertEncoder& size) {
  TensorId x = linear(builder, "vocab_transform", encoded.sequence, size.hidden);
  x = layer_norm(builder, "vocab_layer_norm", activate(builder, size.activation, x));
  const Scope scope(builder, "vocab_projector");
  const TensorId bias = builder.parameter("bias", {size.vocab});
  return builder.add(Kind::Linear, {x, encoded.word_table, bias});
}

const BertEncoder kUsual{{6, 768, 12, 30522, 512}, 0, 0};

graph::Graph build_distilbert(Spec& spec) {
  const BertEncoder size = take_encoder(spec, kUsual);
  const std::string head = spec.take_text("head", "mlm", {"mlm", "qa", "none"});
  Builder builder(spec.name());
  if (head != "none") builder.enter("distilbert");
  const Encoded encoded = encode_words(builder, size);
  if (head != "none") builder.leave();
  if (head == "mlm") builder.loss(word_loss(builder, predict_masked(builder, encoded, size)));
  if (head == "qa") add_question_answering(builder, dropout(builder, "dropout", encoded.sequence));
  if (head == "none") {
    builder.output(encoded.sequence);
    builder.note("the bare encoder has no loss; choose a head to train it");
  }
  return builder.finish();
}

}  // namespace

std::vector<Entry> distilbert_entries() {
  const std::string parameters = describe_encoder(kUsual) + ", head=mlm|qa|none";
  const std::string about = "encoder of 6 layers, width 768, distilled from BERT";
  return {{{"distilbert-base", "BERT", about, parameters}, build_distilbert},
          {{"distilbert-base-uncased", "BERT", about, parameters}, build_distilbert}};
}

}  // namespace foretrain::zoo
