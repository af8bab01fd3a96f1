// SPDX-License-Identifier: Apache-2.0
// BERT, as Hugging Face's BertFor... classes run it.
// Source: Devlin et al., NAACL 2019; layout of the module tree: transformers, modeling_bert.py.
#include <string>

#include "foretrain/zoo/activation.h"
#include "foretrain/zoo/bert_encoder.h"
#include "foretrain/zoo/registry.h"
#include "foretrain/zoo/transformer_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

TensorId predict_tokens(Builder& builder, const Encoded& encoded, const BertEncoder& size) {
  const Scope scope(builder, "predictions");
  TensorId x{};
  {
    const Scope transform(builder, "transform");
    x = linear(builder, "dense", encoded.sequence, size.hidden);
    x = activate(builder, size.activation, x);
    x = layer_norm(builder, "LayerNorm", x);
  }
  return predict_words(builder, x, encoded.word_table);
}

// Masked tokens, and whether the second sentence follows the first where `pooled` is given.
void add_pretraining(Builder& builder, const Encoded& encoded, const TensorId* pooled,
                     const BertEncoder& size) {
  const Scope scope(builder, "cls");
  const TensorId logits = predict_tokens(builder, encoded, size);
  if (pooled == nullptr) {
    builder.loss(word_loss(builder, logits));
    return;
  }
  const TensorId next = linear(builder, "seq_relationship", *pooled, 2);
  const TensorId masked = word_loss(builder, logits);
  const TensorId label = builder.input("next_sentence_label", {builder.batch()}, DType::I64);
  builder.output(next);
  builder.loss(builder.add(Kind::Add, {masked, cross_entropy(builder, "loss", next, label)}));
}

graph::Graph build_bert(Spec& spec, const BertEncoder& usual) {
  const BertEncoder size = take_encoder(spec, usual);
  const std::string head =
      spec.take_text("head", "pretraining", {"pretraining", "mlm", "qa", "classification", "none"});
  const std::int64_t labels = head == "classification" ? spec.take("labels", 2, 2) : 0;

  Builder builder(spec.name());
  if (head != "none") builder.enter("bert");
  const Encoded encoded = encode_bert(builder, size);
  const bool pooling = head != "qa" && head != "mlm";
  const TensorId pooled = pooling ? pool_first(builder, encoded.sequence, size.hidden) : TensorId{};
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

const BertEncoder kBase{12, 768, 12, 30522};  // the vocabulary of the uncased checkpoints
const BertEncoder kLarge{24, 1024, 16, 30522};

graph::Graph build_base(Spec& spec) { return build_bert(spec, kBase); }
graph::Graph build_large(Spec& spec) { return build_bert(spec, kLarge); }

}  // namespace

std::vector<Entry> bert_entries() {
  const std::string base = "encoder of 12 layers, width 768";
  const std::string large = "encoder of 24 layers, width 1024";
  const std::string heads = ", head=pretraining|mlm|qa|classification|none, labels=2";
  const std::string of_base = describe_encoder(kBase) + heads;
  const std::string of_large = describe_encoder(kLarge) + heads;
  return {{{"bert-base", "BERT", base, of_base}, build_base},
          {{"bert-base-uncased", "BERT", base, of_base}, build_base},
          {{"bert-large", "BERT", large, of_large}, build_large},
          {{"bert-large-uncased", "BERT", large, of_large}, build_large}};
}

}  // namespace foretrain::zoo
