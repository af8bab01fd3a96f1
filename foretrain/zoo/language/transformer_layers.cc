// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/language/transformer_layers.h"

#include <string>
#include <vector>

#include "foretrain/base/error.h"

namespace foretrain::zoo {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Dim;
using graph::Kind;
using graph::Scope;
using graph::Shape;
using graph::TensorId;

namespace {

Dim last(const Builder& builder, TensorId x) {
  const Shape& shape = builder.shape(x);
  return shape[shape.rank() - 1];
}

}  // namespace

void require_heads(const Spec& spec, std::int64_t hidden, std::int64_t heads) {
  if (hidden % heads == 0) return;
  throw Error(ErrorKind::BadInput, "model '" + spec.name() + "': heads=" + std::to_string(heads) +
                                       " does not divide hidden=" + std::to_string(hidden));
}

TensorId linear_unbiased(Builder& builder, const std::string& name, TensorId x,
                         std::int64_t features) {
  const Scope scope(builder, name);
  return builder.add(Kind::Linear, {x, builder.parameter("weight", {features, last(builder, x)})});
}

TensorId embed(Builder& builder, const std::string& name, TensorId tokens, std::int64_t rows,
               std::int64_t width, TensorId* table) {
  const Scope scope(builder, name);
  const TensorId weight = builder.parameter("weight", {rows, width});
  if (table != nullptr) *table = weight;
  return builder.add(Kind::Embedding, {tokens, weight});
}

std::int64_t position_rows(Builder& builder, std::int64_t usual, std::int64_t seq) {
  if (seq <= usual) return usual;
  builder.note("the position table has " + std::to_string(seq) + " rows, one per token, not " +
               std::to_string(usual));
  return seq;
}

TensorId embed_positions(Builder& builder, const std::string& name, std::int64_t rows,
                         std::int64_t seq, std::int64_t width) {
  const TensorId positions = builder.buffer("position_ids", {1, seq}, DType::I64);
  return embed(builder, name, positions, rows, width);
}

TensorId add_positions(Builder& builder, const std::string& name, TensorId x,
                       std::int64_t positions, std::int64_t unused) {
  const std::int64_t seq = builder.shape(x)[1].factor;
  const std::int64_t rows = position_rows(builder, positions, seq) + unused;
  const std::int64_t width = last(builder, x).factor;
  return builder.add(Kind::Add, {x, embed_positions(builder, name, rows, seq, width)});
}

TensorId patch_tokens(Builder& builder, const std::string& projection, const std::string& token,
                      TensorId pixels, std::int64_t size, std::int64_t width) {
  TensorId x = conv(builder, projection, pixels,
                    {.channels = width, .kernel = size, .stride = size, .bias = true});
  x = builder.add(Kind::Reshape, {x}, Attributes{{Attr::Shape, {0, width, -1}}});
  x = builder.add(Kind::Transpose, {x}, Attributes{{Attr::Axes, {0, 2, 1}}});
  const TensorId one = builder.parameter(token, {1, 1, width});
  const TensorId first =
      builder.add(Kind::Expand, {one}, Attributes{{Attr::Shape, {builder.batch(), 1, width}}});
  return builder.add(Kind::Concat, {first, x}, Attributes{{Attr::Axis, {1}}});
}

TensorId first_token(Builder& builder, TensorId x) {
  const TensorId first = builder.add(
      Kind::Slice, {x}, Attributes{{Attr::Axis, {1}}, {Attr::Start, {0}}, {Attr::End, {1}}});
  return flatten(builder, first);
}

TensorId layer_norm(Builder& builder, const std::string& name, TensorId x) {
  const Scope scope(builder, name);
  const Dim width = last(builder, x);
  return builder.add(Kind::LayerNorm,
                     {x, builder.parameter("weight", {width}), builder.parameter("bias", {width})});
}

TensorId rms_norm(Builder& builder, const std::string& name, TensorId x) {
  const Scope scope(builder, name);
  return builder.add(Kind::RmsNorm, {x, builder.parameter("weight", {last(builder, x)})});
}

TensorId split_heads(Builder& builder, TensorId x, std::int64_t heads) {
  const TensorId split =
      builder.add(Kind::Reshape, {x}, Attributes{{Attr::Shape, {0, 0, heads, -1}}});
  return builder.add(Kind::Transpose, {split}, Attributes{{Attr::Axes, {0, 2, 1, 3}}});
}

TensorId merge_heads(Builder& builder, TensorId x) {
  const TensorId turned = builder.add(Kind::Transpose, {x}, Attributes{{Attr::Axes, {0, 2, 1, 3}}});
  const TensorId copied = builder.add(Kind::Contiguous, {turned});
  return builder.add(Kind::Reshape, {copied}, Attributes{{Attr::Shape, {0, 0, -1}}});
}

TensorId attend(Builder& builder, TensorId q, TensorId k, TensorId v, const AttentionForm& form) {
  Attributes attributes;
  if (form.causal) attributes.set(Attr::Causal, {1});
  if (form.mask) attributes.set(Attr::Mask, {1});
  if (form.dropout) attributes.set(Attr::Dropout, {1});
  return builder.add(Kind::Attention, {q, k, v}, attributes);
}

// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
TensorId gelu_tanh(Builder& builder, TensorId x) {
  const TensorId half = builder.add(Kind::Scale, {x});
  const TensorId cube = builder.add(Kind::Pow, {x});
  const TensorId sum = builder.add(Kind::Add, {x, builder.add(Kind::Scale, {cube})});
  const TensorId tanh = builder.add(Kind::Tanh, {builder.add(Kind::Scale, {sum})});
  return builder.add(Kind::Mul, {half, builder.add(Kind::Shift, {tanh})});
}

TensorId token_cross_entropy(Builder& builder, TensorId logits, TensorId targets) {
  const Scope scope(builder, "loss");
  const TensorId rows =
      builder.add(Kind::Reshape, {logits}, Attributes{{Attr::Shape, {-1, last(builder, logits)}}});
  const TensorId flat = builder.add(Kind::Reshape, {targets}, Attributes{{Attr::Shape, {-1}}});
  return builder.add(Kind::CrossEntropy, {rows, flat});
}

TensorId attend_jointly(Builder& builder, TensorId x, std::int64_t heads, const std::string& in,
                        const std::string& out, const AttentionForm& form) {
  const std::int64_t hidden = last(builder, x).factor;
  const TensorId qkv = linear(builder, in, x, 3 * hidden);
  const std::vector<TensorId> parts = builder.add_all(
      Kind::Split, {qkv}, Attributes{{Attr::Axis, {2}}, {Attr::Sizes, {hidden, hidden, hidden}}});
  const TensorId q = split_heads(builder, parts[0], heads);
  const TensorId k = split_heads(builder, parts[1], heads);
  const TensorId v = split_heads(builder, parts[2], heads);
  return linear(builder, out, merge_heads(builder, attend(builder, q, k, v, form)), hidden);
}

TensorId attend_apart(Builder& builder, TensorId x, TensorId source, std::int64_t heads,
                      const Projections& names, const AttentionForm& form) {
  const std::int64_t hidden = last(builder, x).factor;
  const auto project = [&](const char* name, TensorId from) {
    return split_heads(builder, linear(builder, name, from, hidden), heads);
  };
  const TensorId q = project(names.query, x);
  const TensorId k = project(names.key, source);
  const TensorId v = project(names.value, source);
  return merge_heads(builder, attend(builder, q, k, v, form));
}

graph::Graph finish_tokens(Builder& builder, TensorId logits, const std::string& labels) {
  builder.output(logits);
  const Shape tokens{builder.shape(logits)[0], builder.shape(logits)[1]};
  builder.loss(token_cross_entropy(builder, logits, builder.input(labels, tokens, DType::I64)));
  return builder.finish();
}

graph::Graph finish_language_model(Builder& builder, TensorId x, const std::string& head,
                                   TensorId table, bool tied) {
  TensorId logits{};
  {
    const Scope scope(builder, head);
    if (!tied) table = builder.parameter("weight", builder.shape(table));
    logits = builder.add(Kind::Linear, {x, table});
  }
  return finish_tokens(builder, logits, "labels");
}

}  // namespace foretrain::zoo
