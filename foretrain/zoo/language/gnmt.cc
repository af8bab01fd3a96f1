// SPDX-License-Identifier: Apache-2.0
// GNMT v2, a translation model of LSTM layers, as NVIDIA's DeepLearningExamples run it: attention
// comes from the decoder's first layer, so that every layer runs over the whole target at once.
// Source: Wu et al., arXiv 1609.08144; Luong et al. 2017 (tutorial); the loss there is smoothed,
// which costs as a cross entropy does.
#include <string>

#include "foretrain/zoo/detail/recurrent_layers.h"
#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/language/transformer_layers.h"

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
  std::int64_t vocab;
  std::int64_t hidden;
  std::int64_t layers;
  std::int64_t seq;
};

TensorId swap_time_and_batch(Builder& builder, TensorId x) {
  return builder.add(Kind::Transpose, {x}, Attributes{{Attr::Axes, {1, 0, 2}}});
}

TensorId concat_features(Builder& builder, TensorId a, TensorId b) {
  return builder.add(Kind::Concat, {a, b}, Attributes{{Attr::Axis, {2}}});
}

TensorId rnn(Builder& builder, std::int64_t index, TensorId x, std::int64_t hidden,
             bool bidirectional = false) {
  return recurrent(builder, "rnn_layers." + std::to_string(index), x,
                   {.hidden = hidden, .bidirectional = bidirectional});
}

// The first layer reads both ways; residual connections start at the third.
TensorId encode(Builder& builder, TensorId embedded, const Size& size) {
  const Scope scope(builder, "encoder");
  TensorId x = rnn(builder, 0, dropout(builder, "dropout", embedded), size.hidden, true);
  x = rnn(builder, 1, dropout(builder, "dropout", x), size.hidden);
  for (std::int64_t i = 2; i < size.layers; ++i) {
    const TensorId y = rnn(builder, i, dropout(builder, "dropout", x), size.hidden);
    x = builder.add(Kind::Add, {y, x});
  }
  return x;
}

// v g / |v|: the normalized vector that scores a sum of query and key.
TensorId normalized_vector(Builder& builder, std::int64_t hidden) {
  const TensorId vector = builder.parameter("linear_att", {hidden});
  const TensorId gain = builder.parameter("normalize_scalar", {1});
  const TensorId square = builder.add(Kind::Pow, {vector});
  const TensorId norm = builder.add(
      Kind::Sqrt,
      {builder.add(Kind::Sum, {square}, Attributes{{Attr::Axes, {0}}, {Attr::KeepDims, {1}}})});
  const TensorId unit = builder.add(Kind::Div, {vector, norm});
  const TensorId scaled = builder.add(Kind::Mul, {unit, gain});
  return builder.add(Kind::Reshape, {scaled}, Attributes{{Attr::Shape, {1, -1}}});
}

// Bahdanau's: softmax over the source of v tanh(q + k + b), for every target step at once.
TensorId attend_additively(Builder& builder, TensorId query, TensorId keys, const Size& size) {
  const Scope scope(builder, "attn");
  query = swap_time_and_batch(builder, query);
  keys = swap_time_and_batch(builder, keys);
  const std::int64_t hidden = size.hidden;
  const std::int64_t seq = size.seq;
  const TensorId q =
      builder.add(Kind::Reshape, {linear_unbiased(builder, "linear_q", query, hidden)},
                  Attributes{{Attr::Shape, {0, seq, 1, hidden}}});
  const TensorId k =
      builder.add(Kind::Reshape, {linear_unbiased(builder, "linear_k", keys, hidden)},
                  Attributes{{Attr::Shape, {0, 1, seq, hidden}}});
  const TensorId bias = builder.parameter("normalize_bias", {hidden});
  const TensorId sum = builder.add(Kind::Add, {builder.add(Kind::Add, {q, k}), bias});
  const TensorId vector = normalized_vector(builder, hidden);
  const TensorId column = builder.add(Kind::Linear, {builder.add(Kind::Tanh, {sum}), vector});
  const TensorId scores =
      builder.add(Kind::Reshape, {column}, Attributes{{Attr::Shape, {0, 0, -1}}});
  const TensorId mask = builder.buffer("mask", {builder.batch(), 1, seq}, DType::Bool);
  const TensorId masked = builder.add(Kind::Where, {mask, scores});
  const TensorId weights = builder.add(Kind::Softmax, {masked}, Attributes{{Attr::Axis, {-1}}});
  return swap_time_and_batch(builder, builder.add(Kind::MatMul, {weights, keys}));
}

// Every layer but the first reads the attended source beside the layer below.
TensorId decode(Builder& builder, TensorId embedded, TensorId source, const Size& size) {
  const Scope scope(builder, "decoder");
  TensorId x{};
  TensorId context{};
  {
    const Scope first(builder, "att_rnn");
    x = recurrent(builder, "rnn", dropout(builder, "dropout", embedded), {.hidden = size.hidden});
    context = attend_additively(builder, x, source, size);
  }
  x = dropout(builder, "dropout", concat_features(builder, x, context));
  x = rnn(builder, 0, x, size.hidden);
  for (std::int64_t i = 1; i + 1 < size.layers; ++i) {
    const TensorId both = dropout(builder, "dropout", concat_features(builder, x, context));
    x = builder.add(Kind::Add, {rnn(builder, i, both, size.hidden), x});
  }
  return linear(builder, "classifier.classifier", x, size.vocab);
}

graph::Graph build_gnmt(Spec& spec) {
  const Size size{spec.take("vocab", 32320), spec.take("hidden", 1024),
                  spec.take("layers", 4, 2, kMostLayers), spec.take("seq", 50)};
  Builder builder(spec.name());
  const Shape tokens{size.seq, builder.batch()};
  const TensorId source = builder.input("source", tokens, DType::I64);
  const TensorId target = builder.input("target", tokens, DType::I64);
  TensorId table{};
  const TensorId from = embed(builder, "encoder.embedder", source, size.vocab, size.hidden, &table);
  const TensorId encoded = encode(builder, from, size);
  builder.enter("decoder.embedder");
  const TensorId to = builder.add(Kind::Embedding, {target, table});
  builder.leave();
  return finish_tokens(builder, decode(builder, to, encoded, size), "labels");
}

}  // namespace

std::vector<Entry> gnmt_entries() {
  return {{{"gnmt", "LSTM", "translation by 4 + 4 LSTM layers of 1024, attention, shared embedding",
            "vocab=32320, hidden=1024, layers=4, seq=50"},
           build_gnmt}};
}

}  // namespace foretrain::zoo
