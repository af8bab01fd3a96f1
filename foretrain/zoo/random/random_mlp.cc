// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "foretrain/zoo/detail/layers.h"
#include "foretrain/zoo/random/random_families.h"

namespace foretrain::zoo {

using graph::Builder;
using graph::Kind;
using graph::TensorId;

graph::Graph build_random_mlp(Spec& spec, Draw& draw) {
  const std::int64_t layers = draw.between(2, 12);
  const std::int64_t features = draw.magnitude(3, 11);
  std::int64_t width = draw.magnitude(4, 11);
  const bool constant = draw.chance(40);
  const bool norm = draw.chance(30);
  const bool dropped = draw.chance(30);
  const Kind activation = draw.pick({Kind::Relu, Kind::Relu, Kind::Tanh, Kind::Sigmoid, Kind::Gelu,
                                     Kind::LeakyRelu, Kind::Elu, Kind::Silu});

  Builder builder(spec.name());
  TensorId x = builder.input("input", {builder.batch(), features});
  for (std::int64_t i = 1; i < layers; ++i) {
    const std::string index = std::to_string(i - 1);
    x = linear(builder, "linear" + index, x, width);
    if (norm) x = batch_norm(builder, "norm" + index, x);
    x = builder.add(activation, {x});
    if (dropped) x = dropout(builder, "", x);
    if (constant) continue;
    width = std::clamp<std::int64_t>(8 * (width * draw.between(4, 13) / 64), 16, 4096);
  }
  return finish_classifier(builder, linear(builder, "head", x, classes(spec, 10)));
}

}  // namespace foretrain::zoo
