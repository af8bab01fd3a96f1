// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/detail/recurrent_layers.h"
#include "foretrain/zoo/language/transformer_layers.h"
#include "foretrain/zoo/random/random_families.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Kind;
using graph::Shape;
using graph::TensorId;

// The last step of [time, batch, features].
TensorId last_step(Builder& builder, TensorId x, std::int64_t seq) {
  const TensorId step =
      builder.add(Kind::Slice, {x},
                  Attributes{{Attr::Axis, {0}}, {Attr::Start, {seq - 1}}, {Attr::End, {seq}}});
  return builder.add(Kind::Reshape, {step},
                     Attributes{{Attr::Shape, {builder.batch(), builder.shape(x)[2]}}});
}

}  // namespace

graph::Graph build_random_recurrent(Spec& spec, Draw& draw) {
  const std::int64_t seq = spec.take("seq", 4 * draw.between(2, 64), 1, 65536);
  const std::int64_t class_count = classes(spec, 10);  // where it does not predict words
  const bool of_words = draw.chance(60);
  const bool predicts_words = of_words && draw.chance(50);
  const std::int64_t vocab = 1000 * draw.between(1, 40);
  const std::int64_t width = draw.magnitude(4, 8);
  Recurrence form;
  form.cell = draw.pick({Cell::Lstm, Cell::Lstm, Cell::Gru, Cell::Gru, Cell::Plain});
  form.hidden = draw.magnitude(5, 9);
  form.layers = draw.between(1, 4);
  // A model that predicts the next word must not read it.
  form.bidirectional = draw.chance(40) && !predicts_words;
  form.dropout = draw.chance(50);

  Builder builder(spec.name());
  const Shape tokens{seq, builder.batch()};
  TensorId x{};
  if (of_words) {
    x = embed(builder, "embedding", builder.input("input", tokens, DType::I64), vocab, width);
  } else {
    x = builder.input("input", {seq, builder.batch(), width});
  }
  if (form.dropout) x = dropout(builder, "", x);
  x = recurrent(builder, "rnn", x, form);
  if (!predicts_words) {
    const TensorId last = last_step(builder, x, seq);
    return finish_classifier(builder, linear(builder, "head", last, class_count));
  }
  return finish_tokens(builder, linear(builder, "head", x, vocab), "target");
}

}  // namespace foretrain::zoo
