// SPDX-License-Identifier: Apache-2.0
// The recurrent language model of PyTorch's examples (word_language_model), on WikiText-2.
#include "foretrain/base/error.h"
#include "foretrain/zoo/detail/recurrent_layers.h"
#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/language/transformer_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Kind;
using graph::Shape;
using graph::TensorId;

graph::Graph build_language_model(Spec& spec) {
  const std::int64_t vocab = spec.take("vocab", 33278);
  const std::int64_t width = spec.take("emsize", 200);
  const std::int64_t hidden = spec.take("hidden", 200);
  const std::int64_t layers = spec.take("layers", 2, 1, kMostLayers);
  const std::int64_t seq = spec.take("seq", 35);
  const bool tied = spec.take("tied", 0, 0, 1) != 0;
  if (tied && width != hidden) {
    throw Error(ErrorKind::BadInput,
                "model '" + spec.name() + "': tied=1 needs emsize and hidden to be the same");
  }

  Builder builder(spec.name());
  const Shape tokens{seq, builder.batch()};
  TensorId table{};
  TensorId x =
      embed(builder, "encoder", builder.input("input", tokens, DType::I64), vocab, width, &table);
  x = dropout(builder, "drop", x);
  x = recurrent(builder, "rnn", x, {.hidden = hidden, .layers = layers, .dropout = true});
  x = dropout(builder, "drop", x);
  builder.enter("decoder");
  const TensorId weight = tied ? table : builder.parameter("weight", {vocab, hidden});
  const TensorId logits =
      builder.add(Kind::Linear, {x, weight, builder.parameter("bias", {vocab})});
  builder.leave();
  return finish_tokens(builder, logits, "target");
}

}  // namespace

std::vector<Entry> lstm_entries() {
  return {{{"lstm-lm", "LSTM", "word language model of PyTorch's examples, WikiText-2",
            "vocab=33278, emsize=200, hidden=200, layers=2, seq=35, tied=0"},
           build_language_model}};
}

}  // namespace foretrain::zoo
