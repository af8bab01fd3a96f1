// SPDX-License-Identifier: Apache-2.0
// BERT, as Hugging Face's BertFor... classes run it.
// Source: Devlin et al., NAACL 2019; layout of the module tree: transformers, modeling_bert.py.
#include <string>

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
  std::int64_t layers;
  std::int64_t hidden;
  std::int64_t heads;
  std::int64_t vocab;
  std::int64_t seq;
};

constexpr std::int64_t kPositions = 512;  // rows of the position table
constexpr std::int64_t kSegments = 2;     // rows of the token type table

// What the encoder gives to the heads.
struct Encoded {
  TensorId sequence;    // [batch, seq, hidden]
  TensorId word_table;  // [vocab, hidden]
};

TensorId self_attention(Builder& builder, TensorId x, const Size& size) {
  const Scope scope(builder, "attention");
  TensorId merged{};
  {
    const Scope self(builder, "self");
    const TensorId q = split_heads(builder, linear(builder, "query", x, size.hidden), size.heads);
    const TensorId k = split_heads(builder, linear(builder, "key", x, size.hidden), size.heads);
    const TensorId v = split_heads(builder, linear(builder, "value", x, size.hidden), size.heads);
    merged = merge_heads(builder, attend(builder, q, k, v, {.mask = true, .dropout = true}));
  }
  const Scope output(builder, "output");
  const TensorId dense = linear(builder, "dense", merged, size.hidden);
  const TensorId dropped = dropout(builder, "dropout", dense);
  return layer_norm(builder, "LayerNorm", builder.add(Kind::Add, {dropped, x}));
}

TensorId layer(Builder& builder, TensorId x, const Size& size) {
  const TensorId attended = self_attention(builder, x, size);
  TensorId inner{};
  {
    const Scope scope(builder, "intermediate");
    inner = builder.add(Kind::Gelu, {linear(builder, "dense", attended, 4 * size.hidden)});
  }
  const Scope scope(builder, "output");
  const TensorId dense = linear(builder, "dense", inner, size.hidden);
  const TensorId dropped = dropout(builder, "dropout", dense);
  return layer_norm(builder, "LayerNorm", builder.add(Kind::Add, {dropped, attended}));
}

Encoded encode(Builder& builder, const Size& size) {
  const Shape tokens{builder.batch(), size.seq};
  const TensorId ids = builder.input("input_ids", tokens, DType::I64);
  const TensorId segments = builder.input("token_type_ids", tokens, DType::I64);
  Encoded encoded{};
  {
    const Scope scope(builder, "embeddings");
    const TensorId words = embed(builder, "word_embeddings", ids, size.vocab, size.hidden,
                                 &encoded.word_table);
    const TensorId types =
        embed(builder, "token_type_embeddings", segments, kSegments, size.hidden);
    const std::int64_t rows = position_rows(builder, kPositions, size.seq);
    const TensorId positions =
        embed_positions(builder, "position_embeddings", rows, size.seq, size.hidden);
    const TensorId sum =
        builder.add(Kind::Add, {builder.add(Kind::Add, {words, types}), positions});
    encoded.sequence = dropout(builder, "dropout", layer_norm(builder, "LayerNorm", sum));
  }
  const Scope scope(builder, "encoder");
  const Scope layers(builder, "layer");
  for (std::int64_t i = 0; i < size.layers; ++i) {
    const Scope one(builder, std::to_string(i));
    encoded.sequence = layer(builder, encoded.sequence, size);
  }
  return encoded;
}

// The first token's vector through a layer of its own: [batch, hidden].
TensorId pool(Builder& builder, TensorId sequence, const Size& size) {
  const Scope scope(builder, "pooler");
  const TensorId first =
      builder.add(Kind::Slice, {sequence},
                  Attributes{{Attr::Axis, {1}}, {Attr::Start, {0}}, {Attr::End, {1}}});
  const TensorId flat = builder.add(Kind::Reshape, {first}, Attributes{{Attr::Shape, {0, -1}}});
  return builder.add(Kind::Tanh, {linear(builder, "dense", flat, size.hidden)});
}

// Logits of every token; the decoder is the word table, with a bias of its own.
TensorId predict_tokens(Builder& builder, const Encoded& encoded, const Size& size) {
  const Scope scope(builder, "predictions");
  TensorId x{};
  {
    const Scope transform(builder, "transform");
    x = builder.add(Kind::Gelu, {linear(builder, "dense", encoded.sequence, size.hidden)});
    x = layer_norm(builder, "LayerNorm", x);
  }
  const TensorId bias = builder.parameter("bias", {size.vocab});
  const Scope decoder(builder, "decoder");
  return builder.add(Kind::Linear, {x, encoded.word_table, bias});
}

TensorId token_loss(Builder& builder, TensorId logits, const Size& size) {
  const TensorId labels = builder.input("labels", {builder.batch(), size.seq}, DType::I64);
  builder.output(logits);
  return token_cross_entropy(builder, logits, labels);
}

// Masked tokens, and whether the second sentence follows the first where `pooled` is given.
void add_pretraining(Builder& builder, const Encoded& encoded, const TensorId* pooled,
                     const Size& size) {
  const Scope scope(builder, "cls");
  const TensorId logits = predict_tokens(builder, encoded, size);
  if (pooled == nullptr) {
    builder.loss(token_loss(builder, logits, size));
    return;
  }
  const TensorId next = linear(builder, "seq_relationship", *pooled, 2);
  const TensorId masked = token_loss(builder, logits, size);
  const TensorId label = builder.input("next_sentence_label", {builder.batch()}, DType::I64);
  builder.output(next);
  builder.loss(builder.add(Kind::Add, {masked, cross_entropy(builder, "loss", next, label)}));
}

// Start and end of the answer: two scores per token.
void add_question_answering(Builder& builder, TensorId sequence) {
  const TensorId logits = linear(builder, "qa_outputs", sequence, 2);
  const std::vector<TensorId> ends = builder.add_all(
      Kind::Split, {logits}, Attributes{{Attr::Axis, {-1}}, {Attr::Sizes, {1, 1}}});
  std::vector<TensorId> losses;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const TensorId flat = builder.add(Kind::Reshape, {ends[i]}, Attributes{{Attr::Shape, {0, -1}}});
    const TensorId scores = builder.add(Kind::Contiguous, {flat});
    const TensorId target = builder.input(i == 0 ? "start_positions" : "end_positions",
                                          {builder.batch()}, DType::I64);
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

graph::Graph build_bert(Spec& spec, Size size) {
  size.seq = spec.take("seq", kPositions);
  size.vocab = spec.take("vocab", size.vocab);
  const std::string head = spec.take_text("head", "pretraining",
                                          {"pretraining", "mlm", "qa", "classification", "none"});
  const std::int64_t labels = head == "classification" ? spec.take("labels", 2, 2) : 0;

  Builder builder(spec.name());
  if (head != "none") builder.enter("bert");
  const Encoded encoded = encode(builder, size);
  const bool pooling = head != "qa" && head != "mlm";
  const TensorId pooled = pooling ? pool(builder, encoded.sequence, size) : TensorId{};
  if (head != "none") builder.leave();

  if (head == "pretraining") add_pretraining(builder, encoded, &pooled, size);
  if (head == "mlm") add_pretraining(builder, encoded, nullptr, size);
  if (head == "qa") add_question_answering(builder, encoded.sequence);
  if (head == "classification") add_classification(builder, pooled, labels);
  if (head == "none") {
    builder.output(encoded.sequence);
    builder.output(pooled);
    builder.note("the bare encoder has no loss; choose a head to train it");
  }
  return builder.finish();
}

constexpr std::int64_t kVocab = 30522;  // of the uncased checkpoints

graph::Graph build_base(Spec& spec) { return build_bert(spec, {12, 768, 12, kVocab, kPositions}); }
graph::Graph build_large(Spec& spec) {
  return build_bert(spec, {24, 1024, 16, kVocab, kPositions});
}

}  // namespace

std::vector<Entry> bert_entries() {
  const std::string base = "encoder of 12 layers, width 768";
  const std::string large = "encoder of 24 layers, width 1024";
  const std::string parameters =
      "seq=512, vocab=30522, head=pretraining|mlm|qa|classification|none, labels=2";
  return {{{"bert-base", "BERT", base, parameters}, build_base},
          {{"bert-base-uncased", "BERT", base, parameters}, build_base},
          {{"bert-large", "BERT", large, parameters}, build_large},
          {{"bert-large-uncased", "BERT", large, parameters}, build_large}};
}

}  // namespace foretrain::zoo
