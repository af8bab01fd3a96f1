// SPDX-License-Identifier: Apache-2.0
// Source: Devlin et al., NAACL 2019; layout of the module tree: transformers, modeling_bert.py.
#include "foretrain/zoo/language/bert_encoder.h"

#include "foretrain/zoo/detail/activation.h"
#include "foretrain/zoo/language/transformer_layers.h"

namespace foretrain::zoo {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::Shape;
using graph::TensorId;

namespace {

TensorId self_attention(Builder& builder, TensorId x, const BertEncoder& size) {
  const Scope scope(builder, "attention");
  TensorId merged{};
  {
    const Scope self(builder, "self");
    merged = attend_apart(builder, x, x, size.heads, {"query", "key", "value"},
                          {.mask = true, .dropout = true});
  }
  const Scope output(builder, "output");
  const TensorId dense = linear(builder, "dense", merged, size.hidden);
  const TensorId dropped = dropout(builder, "dropout", dense);
  return layer_norm(builder, "LayerNorm", builder.add(Kind::Add, {dropped, x}));
}

TensorId layer(Builder& builder, TensorId x, const BertEncoder& size) {
  const TensorId attended = self_attention(builder, x, size);
  TensorId inner{};
  {
    const Scope scope(builder, "intermediate");
    inner = activate(builder, size.activation, linear(builder, "dense", attended, size.ffn));
  }
  const Scope scope(builder, "output");
  const TensorId dense = linear(builder, "dense", inner, size.hidden);
  const TensorId dropped = dropout(builder, "dropout", dense);
  return layer_norm(builder, "LayerNorm", builder.add(Kind::Add, {dropped, attended}));
}

// Vectors of the token types. A model with one type takes it for every token.
TensorId embed_types(Builder& builder, const BertEncoder& size) {
  const bool given = size.segments > 1;
  const Shape shape{given ? builder.batch() : graph::Dim(1), size.seq};
  const TensorId types = given ? builder.input("token_type_ids", shape, DType::I64)
                               : builder.buffer("token_type_ids", shape, DType::I64);
  return embed(builder, "token_type_embeddings", types, size.segments, size.hidden);
}

}  // namespace

BertEncoder take_encoder(Spec& spec, BertEncoder usual) {
  BertEncoder size = std::move(usual);
  take_sizes(spec, size);
  take_positions(spec, size);
  if (size.segments > 0) size.segments = spec.take("segments", size.segments, 1, 65536);
  return size;
}

std::string describe_encoder(const BertEncoder& usual) {
  const std::string segments =
      usual.segments > 0 ? ", segments=" + std::to_string(usual.segments) : "";
  return describe_sizes(usual) + ", positions=" + std::to_string(usual.seq) + segments +
         ", act=" + usual.activation;
}

Encoded encode_bert(Builder& builder, const BertEncoder& size) {
  const TensorId ids = builder.input("input_ids", {builder.batch(), size.seq}, DType::I64);
  Encoded encoded{};
  {
    const Scope scope(builder, "embeddings");
    const TensorId words =
        embed(builder, "word_embeddings", ids, size.vocab, size.hidden, &encoded.word_table);
    const TensorId types = embed_types(builder, size);
    const std::int64_t rows =
        position_rows(builder, size.positions, size.seq) + size.unused_positions;
    const TensorId positions =
        embed_positions(builder, "position_embeddings", rows, size.seq, size.hidden);
    const TensorId sum =
        builder.add(Kind::Add, {builder.add(Kind::Add, {words, types}), positions});
    encoded.sequence = dropout(builder, "dropout", layer_norm(builder, "LayerNorm", sum));
  }
  encoded.sequence = run_bert_layers(builder, encoded.sequence, size);
  return encoded;
}

TensorId run_bert_layers(Builder& builder, TensorId x, const BertEncoder& size) {
  const Scope scope(builder, "encoder.layer");
  for (std::int64_t i = 0; i < size.layers; ++i) {
    const Scope one(builder, std::to_string(i));
    x = layer(builder, x, size);
  }
  return x;
}

TensorId pool_first(Builder& builder, TensorId sequence, std::int64_t hidden) {
  const Scope scope(builder, "pooler");
  return builder.add(Kind::Tanh,
                     {linear(builder, "dense", first_token(builder, sequence), hidden)});
}

TensorId predict_words(Builder& builder, TensorId x, TensorId table) {
  const TensorId bias = builder.parameter("bias", {builder.shape(table)[0]});
  const Scope decoder(builder, "decoder");
  return builder.add(Kind::Linear, {x, table, bias});
}

TensorId word_loss(Builder& builder, TensorId logits) {
  const Shape& shape = builder.shape(logits);
  const TensorId labels = builder.input("labels", {shape[0], shape[1]}, DType::I64);
  builder.output(logits);
  return token_cross_entropy(builder, logits, labels);
}

void add_question_answering(Builder& builder, TensorId sequence) {
  const TensorId logits = linear(builder, "qa_outputs", sequence, 2);
  const std::vector<TensorId> ends =
      builder.add_all(Kind::Split, {logits}, Attributes{{Attr::Axis, {-1}}, {Attr::Sizes, {1, 1}}});
  std::vector<TensorId> losses;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const TensorId flat = builder.add(Kind::Reshape, {ends[i]}, Attributes{{Attr::Shape, {0, -1}}});
    const TensorId scores = builder.add(Kind::Contiguous, {flat});
    const TensorId target =
        builder.input(i == 0 ? "start_positions" : "end_positions", {builder.batch()}, DType::I64);
    builder.output(scores);
    losses.push_back(cross_entropy(builder, "loss", scores, target));
  }
  builder.loss(builder.add(Kind::Scale, {builder.add(Kind::Add, losses)}));
}

void add_classification(Builder& builder, TensorId pooled, std::int64_t labels) {
  const TensorId dropped = dropout(builder, "dropout", pooled);
  const TensorId logits = linear(builder, "classifier", dropped, labels);
  builder.output(logits);
  const TensorId targets = builder.input("labels", {builder.batch()}, DType::I64);
  builder.loss(cross_entropy(builder, "loss", logits, targets));
}

}  // namespace foretrain::zoo
