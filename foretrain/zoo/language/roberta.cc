// SPDX-License-Identifier: Apache-2.0
// RoBERTa, as Hugging Face's RobertaFor... classes run it: BERT's encoder with one token type,
// trained on masked tokens alone.
// Source: Liu et al., arXiv 1907.11692; transformers, modeling_roberta.py.
#include <string>

#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/language/bert_encoder.h"
#include "foretrain/zoo/language/transformer_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

void add_masked_words(Builder& builder, const Encoded& encoded, const BertEncoder& size) {
  const Scope scope(builder, "lm_head");
  TensorId x = builder.add(Kind::Gelu, {linear(builder, "dense", encoded.sequence, size.hidden)});
  x = layer_norm(builder, "layer_norm", x);
  builder.loss(word_loss(builder, predict_words(builder, x, encoded.word_table)));
}

graph::Graph build_roberta(Spec& spec, const BertEncoder& usual) {
  const BertEncoder size = take_encoder(spec, usual);
  const std::string head = spec.take_text("head", "mlm", {"mlm", "qa", "none"});
  Builder builder(spec.name());
  if (head != "none") builder.enter("roberta");
  const Encoded encoded = encode_bert(builder, size);
  if (head == "none") {
    builder.output(encoded.sequence);
    builder.output(pool_first(builder, encoded.sequence, size.hidden));
    builder.note("the bare encoder has no loss; choose a head to train it");
    return builder.finish();
  }
  builder.leave();
  if (head == "mlm") add_masked_words(builder, encoded, size);
  if (head == "qa") add_question_answering(builder, encoded.sequence);
  return builder.finish();
}

// The first two rows of the position table belong to padding.
const BertEncoder kBase{{12, 768, 12, 50265, 512}, 2, 1};
const BertEncoder kLarge{{24, 1024, 16, 50265, 512}, 2, 1};

graph::Graph build_base(Spec& spec) { return build_roberta(spec, kBase); }
graph::Graph build_large(Spec& spec) { return build_roberta(spec, kLarge); }

}  // namespace

std::vector<Entry> roberta_entries() {
  const std::string heads = ", head=mlm|qa|none";
  return {{{"roberta-base", "BERT", "encoder of 12 layers, width 768, of masked words",
            describe_encoder(kBase) + heads},
           build_base},
          {{"roberta-large", "BERT", "encoder of 24 layers, width 1024, of masked words",
            describe_encoder(kLarge) + heads},
           build_large}};
}

}  // namespace foretrain::zoo
