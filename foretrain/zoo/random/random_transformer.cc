// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "foretrain/zoo/language/transformer_layers.h"
#include "foretrain/zoo/random/random_families.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

struct Form {
  std::int64_t seq = 0;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t ffn = 0;
  std::int64_t vocab = 0;
  std::int64_t classes = 0;  // where it does not predict words
  bool causal = false;       // predicts words; otherwise classifies
  bool norm_first = false;
  bool dropped = false;
  bool gated = false;
  Kind activation = Kind::Gelu;
};

Form draw_form(Spec& spec, Draw& draw) {
  Form form;
  form.seq = spec.take("seq", 16 * draw.between(1, 32), 1, 65536);
  form.classes = classes(spec, 10);
  form.layers = draw.between(1, 12);
  const std::int64_t head = draw.pick({32, 64, 64});
  form.heads = draw.between(head == 64 ? 1 : 2, 768 / head);
  form.hidden = head * form.heads;
  form.ffn = form.hidden * draw.pick({2, 3, 4, 4, 4});
  form.vocab = 1000 * draw.between(1, 40);
  form.causal = draw.chance(50);
  form.norm_first = draw.chance(50);
  form.dropped = draw.chance(50);
  form.gated = draw.chance(25);
  form.activation = draw.pick({Kind::Gelu, Kind::Gelu, Kind::Relu, Kind::Silu});
  return form;
}

TensorId self_attention(Builder& builder, TensorId x, const Form& form) {
  const Scope scope(builder, "attention");
  const TensorId attended =
      attend_apart(builder, x, x, form.heads, {"query", "key", "value"},
                   {.causal = form.causal, .mask = !form.causal, .dropout = form.dropped});
  return linear(builder, "output", attended, form.hidden);
}

TensorId feed_forward(Builder& builder, TensorId x, const Form& form) {
  const Scope scope(builder, "feed_forward");
  TensorId y = builder.add(form.activation, {linear(builder, "in", x, form.ffn)});
  if (form.gated) y = builder.add(Kind::Mul, {y, linear(builder, "gate", x, form.ffn)});
  return linear(builder, "out", y, form.hidden);
}

// x plus what `part` makes of it, normed before or after.
TensorId residual(Builder& builder, const char* norm, TensorId x, const Form& form,
                  TensorId (*part)(Builder&, TensorId, const Form&)) {
  TensorId y = part(builder, form.norm_first ? layer_norm(builder, norm, x) : x, form);
  if (form.dropped) y = dropout(builder, "", y);
  const TensorId sum = builder.add(Kind::Add, {x, y});
  return form.norm_first ? sum : layer_norm(builder, norm, sum);
}

graph::Graph classify(Builder& builder, TensorId x, const Form& form) {
  const TensorId mean = builder.add(Kind::Mean, {x}, Attributes{{Attr::Axes, {1}}});
  return finish_classifier(builder, linear(builder, "head", mean, form.classes));
}

}  // namespace

graph::Graph build_random_transformer(Spec& spec, Draw& draw) {
  const Form form = draw_form(spec, draw);
  Builder builder(spec.name());
  const TensorId ids = builder.input("input", {builder.batch(), form.seq}, DType::I64);
  TensorId table{};
  const TensorId words = embed(builder, "words", ids, form.vocab, form.hidden, &table);
  TensorId x = add_positions(builder, "positions", words, form.seq);
  for (std::int64_t i = 0; i < form.layers; ++i) {
    const Scope scope(builder, "layers." + std::to_string(i));
    x = residual(builder, "attention_norm", x, form, self_attention);
    x = residual(builder, "feed_forward_norm", x, form, feed_forward);
  }
  if (form.norm_first) x = layer_norm(builder, "norm", x);
  if (!form.causal) return classify(builder, x, form);
  return finish_tokens(builder, builder.add(Kind::Linear, {x, table}), "target");
}

}  // namespace foretrain::zoo
