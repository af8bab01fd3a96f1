// SPDX-License-Identifier: Apache-2.0
// BERT, as Hugging Face's BertFor... classes run it.
// Source: Devlin et al., NAACL 2019; layout of the module tree: transformers, modeling_bert.py.
#include <string>

#include "foretrain/zoo/detail/activation.h"
#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/language/bert_encoder.h"
#include "foretrain/zoo/language/transformer_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

// The vectors of the masked places alone, [batch * places, hidden], where they are few.
TensorId choose_places(Builder& builder, TensorId sequence, std::int64_t places,
                       const BertEncoder& size) {
  if (places >= size.seq) return sequence;
  const TensorId rows =
      builder.add(Kind::Reshape, {sequence}, Attributes{{Attr::Shape, {-1, size.hidden}}});
  const graph::Shape shape{builder.batch() * graph::Dim(places)};
  const TensorId where = builder.input("masked_lm_positions", shape, DType::I64);
  return builder.add(Kind::Gather, {rows, where}, Attributes{{Attr::Axis, {0}}});
}

TensorId predict_tokens(Builder& builder, const Encoded& encoded, TensorId chosen,
                        const BertEncoder& size) {
  const Scope scope(builder, "predictions");
  TensorId x{};
  {
    const Scope transform(builder, "transform");
    x = linear(builder, "dense", chosen, size.hidden);
    x = activate(builder, size.activation, x);
    x = layer_norm(builder, "LayerNorm", x);
  }
  return predict_words(builder, x, encoded.word_table);
}

TensorId chosen_word_loss(Builder& builder, TensorId logits) {
  if (builder.shape(logits).rank() > 2) return word_loss(builder, logits);
  const TensorId labels = builder.input("labels", {builder.shape(logits)[0]}, DType::I64);
  builder.output(logits);
  return cross_entropy(builder, "loss", logits, labels);
}

// Masked tokens, and whether the second sentence follows the first where `pooled` is given.
void add_pretraining(Builder& builder, const Encoded& encoded, const TensorId* pooled,
                     std::int64_t places, const BertEncoder& size) {
  const Scope scope(builder, "cls");
  const TensorId chosen = choose_places(builder, encoded.sequence, places, size);
  const TensorId logits = predict_tokens(builder, encoded, chosen, size);
  if (pooled == nullptr) {
    builder.loss(chosen_word_loss(builder, logits));
    return;
  }
  const TensorId next = linear(builder, "seq_relationship", *pooled, 2);
  const TensorId masked = chosen_word_loss(builder, logits);
  const TensorId label = builder.input("next_sentence_label", {builder.batch()}, DType::I64);
  builder.output(next);
  builder.loss(builder.add(Kind::Add, {masked, cross_entropy(builder, "loss", next, label)}));
}

graph::Graph build_bert(Spec& spec, const BertEncoder& usual) {
  const BertEncoder size = take_encoder(spec, usual);
  const std::string head =
      spec.take_text("head", "pretraining", {"pretraining", "mlm", "qa", "classification", "none"});
  const std::int64_t labels = head == "classification" ? spec.take("labels", 2, 2) : 0;
  const bool words = head == "pretraining" || head == "mlm";
  const std::int64_t places = words ? spec.take("places", size.seq) : 0;

  Builder builder(spec.name());
  if (head != "none") builder.enter("bert");
  const Encoded encoded = encode_bert(builder, size);
  const bool pooling = head != "qa" && head != "mlm";
  const TensorId pooled = pooling ? pool_first(builder, encoded.sequence, size.hidden) : TensorId{};
  if (head != "none") builder.leave();

  if (head == "pretraining") add_pretraining(builder, encoded, &pooled, places, size);
  if (head == "mlm") add_pretraining(builder, encoded, nullptr, places, size);
  if (head == "qa") add_question_answering(builder, encoded.sequence);
  if (head == "classification") add_classification(builder, pooled, labels);
  if (head == "none") {
    builder.output(encoded.sequence);
    builder.output(pooled);
    builder.note("the bare encoder has no loss; choose a head to train it");
  }
  return builder.finish();
}

const BertEncoder kBase{{12, 768, 12, 30522, 512}};  // the vocabulary of the uncased checkpoints
const BertEncoder kLarge{{24, 1024, 16, 30522, 512}};

graph::Graph build_base(Spec& spec) { return build_bert(spec, kBase); }
graph::Graph build_large(Spec& spec) { return build_bert(spec, kLarge); }

}  // namespace

std::vector<Entry> bert_entries() {
  const std::string base = "encoder of 12 layers, width 768";
  const std::string large = "encoder of 24 layers, width 1024";
  const std::string heads =
      ", head=pretraining|mlm|qa|classification|none, labels=2, places=seq (masked)";
  const std::string of_base = describe_encoder(kBase) + heads;
  const std::string of_large = describe_encoder(kLarge) + heads;
  return {{{"bert-base", "BERT", base, of_base}, build_base},
          {{"bert-base-uncased", "BERT", base, of_base}, build_base},
          {{"bert-large", "BERT", large, of_large}, build_large},
          {{"bert-large-uncased", "BERT", large, of_large}, build_large}};
}

}  // namespace foretrain::zoo
