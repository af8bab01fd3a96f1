// SPDX-License-Identifier: Apache-2.0
// ELECTRA, as NVIDIA's DeepLearningExamples pretrain it: a small generator fills masked words
// in, a discriminator of BERT's shape finds them; both look words up in the same tables. Other
// heads have the discriminator alone, as Hugging Face's ElectraFor... classes.
// Source: Clark et al., ICLR 2020; NVIDIA DeepLearningExamples, TensorFlow2/LanguageModeling/
// ELECTRA, modeling.py and run_pretraining.py.
#include <algorithm>
#include <string>

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

// Tables of words, positions and token types, with a norm: one module that runs for the
// generator's input and for the discriminator's.
class Embeddings {
 public:
  Embeddings(Builder& builder, const BertEncoder& size) : builder_(builder) {
    const Scope scope(builder, "embeddings");
    const std::int64_t rows = position_rows(builder, size.positions, size.seq);
    words_ = builder.parameter("word_embeddings.weight", {size.vocab, size.hidden});
    positions_ = builder.parameter("position_embeddings.weight", {rows, size.hidden});
    types_ = builder.parameter("token_type_embeddings.weight", {size.segments, size.hidden});
    weight_ = builder.parameter("LayerNorm.weight", {size.hidden});
    bias_ = builder.parameter("LayerNorm.bias", {size.hidden});
    const graph::Shape shape{builder.batch(), size.seq};
    type_ids_ = builder.input("token_type_ids", shape, DType::I64);
    position_ids_ = builder.buffer("position_ids", {1, size.seq}, DType::I64);
  }

  TensorId words() const { return words_; }

  TensorId run(TensorId ids) {
    const Scope scope(builder_, "embeddings");
    const TensorId words = builder_.add(Kind::Embedding, {ids, words_});
    const TensorId types = builder_.add(Kind::Embedding, {type_ids_, types_});
    const TensorId positions = builder_.add(Kind::Embedding, {position_ids_, positions_});
    const TensorId both = builder_.add(Kind::Add, {words, types});
    const TensorId sum = builder_.add(Kind::Add, {both, positions});
    return dropout(builder_, "dropout", builder_.add(Kind::LayerNorm, {sum, weight_, bias_}));
  }

 private:
  Builder& builder_;
  TensorId words_{}, positions_{}, types_{}, weight_{}, bias_{}, type_ids_{}, position_ids_{};
};

// The loss of the words that are masked, 15.5 % of a sequence rounded down.
TensorId generate(Builder& builder, TensorId ids, Embeddings& embeddings, const BertEncoder& size,
                  const BertEncoder& usual) {
  const std::int64_t masked = std::max<std::int64_t>(155 * size.seq / 1000, 1);
  TensorId x = linear(builder, "embeddings_project", embeddings.run(ids), size.hidden);
  x = run_bert_layers(builder, x, size);
  x = builder.add(Kind::Reshape, {x}, Attributes{{Attr::Shape, {-1, size.hidden}}});
  const graph::Shape places{builder.batch() * graph::Dim(masked)};
  const TensorId where = builder.input("masked_lm_positions", places, DType::I64);
  x = builder.add(Kind::Gather, {x, where}, Attributes{{Attr::Axis, {0}}});
  const Scope scope(builder, "generator_predictions");
  x = builder.add(Kind::Gelu, {linear(builder, "dense", x, usual.hidden)});
  x = layer_norm(builder, "LayerNorm", x);
  const TensorId logits = predict_words(builder, x, embeddings.words());
  // Words are drawn from what the generator predicts.
  builder.output(builder.add(Kind::ArgMax, {logits}, Attributes{{Attr::Axes, {1}}}));
  const TensorId labels = builder.input("masked_lm_ids", places, DType::I64);
  return cross_entropy(builder, "loss", logits, labels);
}

// Whether each word was replaced.
TensorId discriminate(Builder& builder, TensorId sequence, const BertEncoder& size) {
  const Scope scope(builder, "discriminator_predictions");
  TensorId x = builder.add(Kind::Gelu, {linear(builder, "dense", sequence, size.hidden)});
  x = linear(builder, "dense_prediction", x, 1);
  x = builder.add(Kind::Reshape, {x}, Attributes{{Attr::Shape, {-1}}});
  builder.output(x);
  const TensorId replaced = builder.input("replaced", {builder.shape(x)[0]});
  return builder.add(Kind::PointwiseLoss, {x, replaced});
}

graph::Graph build_electra(Spec& spec, const BertEncoder& usual) {
  const BertEncoder size = take_encoder(spec, usual);
  const std::string head =
      spec.take_text("head", "pretraining", {"pretraining", "discriminator", "qa"});
  BertEncoder generator = size;
  if (head == "pretraining") {
    generator.hidden = spec.take("generator", 256, 1, 65536);
    generator.heads = std::max<std::int64_t>(generator.hidden / 64, 1);
    generator.ffn = 4 * generator.hidden;
    require_heads(spec, generator.hidden, generator.heads);
  }
  Builder builder(spec.name());
  const TensorId ids = builder.input("input_ids", {builder.batch(), size.seq}, DType::I64);
  builder.enter("electra");
  Embeddings embeddings(builder, size);
  builder.leave();
  TensorId generated{};
  if (head == "pretraining") {
    const Scope scope(builder, "generator");
    generated = generate(builder, ids, embeddings, generator, size);
  }
  builder.enter("electra");
  const TensorId sequence = run_bert_layers(builder, embeddings.run(ids), size);
  builder.leave();
  if (head == "qa") {
    add_question_answering(builder, sequence);
    return builder.finish();
  }
  const TensorId found = discriminate(builder, sequence, size);
  builder.loss(head == "pretraining" ? builder.add(Kind::Add, {generated, found}) : found);
  return builder.finish();
}

// NVIDIA pads the vocabulary of 30522 for pretraining to a multiple of 8.
const BertEncoder kBase{{12, 768, 12, 30522, 512}};
const BertEncoder kLarge{{24, 1024, 16, 30522, 512}};

graph::Graph build_base(Spec& spec) { return build_electra(spec, kBase); }
graph::Graph build_large(Spec& spec) { return build_electra(spec, kLarge); }

}  // namespace

std::vector<Entry> electra_entries() {
  const std::string heads = ", head=pretraining|discriminator|qa, generator=";
  return {{{"electra-base", "BERT", "encoder of 12 layers, width 768, and a generator of 256",
            describe_encoder(kBase) + heads + "256"},
           build_base},
          {{"electra-large", "BERT", "encoder of 24 layers, width 1024, and a generator of 256",
            describe_encoder(kLarge) + heads + "256"},
           build_large}};
}

}  // namespace foretrain::zoo
