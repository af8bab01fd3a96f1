// SPDX-License-Identifier: Apache-2.0
// Recoder's autoencoder of one hidden layer over the films that users of MovieLens-20M watched,
// which Gavel calls Recommendation: a batch looks up only the films that occur in it.
// Source: stanford-futuredata/gavel, workloads/pytorch/recommendation, recoder/nn.py and
// train.py; films as in Liang et al., WWW 2018.
#include "foretrain/base/error.h"
#include "foretrain/zoo/detail/layers.h"
#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/language/transformer_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Kind;
using graph::TensorId;

// Each row divided by its length.
TensorId normalized(Builder& builder, TensorId x) {
  const TensorId squares = builder.add(Kind::Pow, {x});
  const TensorId sum =
      builder.add(Kind::Sum, {squares}, Attributes{{Attr::Axes, {1}}, {Attr::KeepDims, {1}}});
  return builder.add(Kind::Div, {x, builder.add(Kind::Sqrt, {sum})});
}

graph::Graph build_recoder(Spec& spec) {
  const std::int64_t items = spec.take("items", 20108);
  const std::int64_t active = spec.take("active", items);
  const std::int64_t hidden = spec.take("hidden", 200, 1, 65536);
  if (active > items) {
    throw Error(ErrorKind::BadInput, "model '" + spec.name() +
                                         "': active=" + std::to_string(active) +
                                         " is more than items=" + std::to_string(items));
  }
  Builder builder(spec.name());
  const TensorId watched = builder.input("watched", {builder.batch(), active});
  const TensorId films = builder.buffer("input_items", {active}, DType::I64);
  TensorId x = builder.add(Kind::Dropout, {normalized(builder, watched)});
  const TensorId in = embed(builder, "en_embedding_layer", films, items, hidden);
  x = builder.add(Kind::MatMul, {x, in});
  x = builder.add(Kind::Add, {x, builder.parameter("en_bias", {hidden})});
  x = builder.add(Kind::Tanh, {x});
  const TensorId out = embed(builder, "de_embedding_layer", films, items, hidden);
  const TensorId bias = builder.add(Kind::Gather, {builder.parameter("de_bias", {items}), films},
                                    Attributes{{Attr::Axis, {0}}});
  x = builder.add(Kind::Linear, {x, out, bias});
  builder.output(x);
  builder.loss(builder.add(Kind::PointwiseLoss, {x, watched}));
  return builder.finish();
}

}  // namespace

std::vector<Entry> recoder_entries() {
  return {{{"recoder", "Recoder", "recommendation by an autoencoder, MovieLens-20M, as in Gavel",
            "items=20108, active=items, hidden=200"},
           build_recoder}};
}

}  // namespace foretrain::zoo
