// SPDX-License-Identifier: Apache-2.0
// Neural matrix factorization: a product of two embeddings beside a tower of linear layers over
// two others, which predict together whether a user takes an item.
// Source: He et al., WWW 2017. `neumf` has the tower of the public PyTorch code (guoyang9/NCF),
// on MovieLens-1M by default; `neumf-ml20m` that of NVIDIA's examples on MovieLens-20M.
#include <string>

#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/language/transformer_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Kind;
using graph::TensorId;

struct Size {
  std::int64_t users;
  std::int64_t items;
  std::int64_t factors;             // of the GEMM
  std::vector<std::int64_t> tower;  // its input (user and item side by side), then its layers
};

TensorId concat_last(Builder& builder, TensorId a, TensorId b) {
  return builder.add(Kind::Concat, {a, b}, Attributes{{Attr::Axis, {1}}});
}

graph::Graph build_model(const std::string& name, const Size& size) {
  Builder builder(name);
  const TensorId user = builder.input("user", {builder.batch()}, DType::I64);
  const TensorId item = builder.input("item", {builder.batch()}, DType::I64);
  const std::int64_t half = size.tower.front() / 2;
  const TensorId product =
      builder.add(Kind::Mul, {embed(builder, "embed_user_GMF", user, size.users, size.factors),
                              embed(builder, "embed_item_GMF", item, size.items, size.factors)});
  const TensorId user_vector = embed(builder, "embed_user_MLP", user, size.users, half);
  const TensorId item_vector = embed(builder, "embed_item_MLP", item, size.items, half);
  TensorId x = concat_last(builder, user_vector, item_vector);
  for (std::size_t i = 1; i < size.tower.size(); ++i) {
    // Modules 3 i - 3 are dropouts of rate 0, which run nothing.
    x = linear(builder, "MLP_layers." + std::to_string(3 * i - 2), x, size.tower[i]);
    x = builder.add(Kind::Relu, {x});
  }
  const TensorId column = linear(builder, "predict_layer", concat_last(builder, product, x), 1);
  const TensorId score = builder.add(Kind::Reshape, {column}, Attributes{{Attr::Shape, {-1}}});
  builder.output(score);
  const TensorId label = builder.input("label", {builder.batch()});
  builder.loss(builder.add(Kind::PointwiseLoss, {score, label}));
  return builder.finish();
}

// A tower that halves `layers` times down to `mf`.
graph::Graph build_neumf(Spec& spec) {
  const std::int64_t users = spec.take("users", 6040);
  const std::int64_t items = spec.take("items", 3706);
  const std::int64_t factors = spec.take("mf", 32, 1, 65536);
  const std::int64_t layers = spec.take("layers", 3, 1, 16);
  std::vector<std::int64_t> tower;
  for (std::int64_t i = layers; i >= 0; --i) tower.push_back(factors << i);
  return build_model(spec.name(), {users, items, factors, tower});
}

graph::Graph build_ml20m(Spec& spec) {
  const std::int64_t users = spec.take("users", 138493);
  const std::int64_t items = spec.take("items", 26744);
  return build_model(spec.name(), {users, items, 64, {256, 256, 128, 64}});
}

}  // namespace

std::vector<Entry> neumf_entries() {
  return {{{"neumf", "NeuMF", "recommendation, MovieLens-1M",
            "users=6040, items=3706, mf=32, layers=3"},
           build_neumf},
          {{"neumf-ml20m", "NeuMF", "recommendation, MovieLens-20M, tower 256-256-128-64",
            "users=138493, items=26744"},
           build_ml20m}};
}

}  // namespace foretrain::zoo
