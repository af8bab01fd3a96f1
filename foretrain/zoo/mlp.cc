// SPDX-License-Identifier: Apache-2.0
// Layers of neurons with ReLU between them.
#include <string>

#include "foretrain/zoo/detail/layers.h"
#include "foretrain/zoo/detail/registry.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::TensorId;

graph::Graph build_mlp(Spec& spec) {
  const std::int64_t in = spec.take("in", 784);
  const std::int64_t hidden = spec.take("hidden", 512);
  const std::int64_t layers = spec.take("layers", 3, 1, kMostLayers);
  const std::int64_t classes = spec.take("classes", 10);

  Builder builder(spec.name());
  TensorId x = builder.input("input", {builder.batch(), in});
  for (std::int64_t i = 0; i < layers; ++i) {
    const bool final = i + 1 == layers;
    x = linear(builder, std::to_string(2 * i), x, final ? classes : hidden);
    if (!final) x = relu(builder, std::to_string(2 * i + 1), x);
  }
  return finish_classifier(builder, x);
}

}  // namespace

std::vector<Entry> mlp_entries() {
  return {{{"mlp", "MLP", "`layers` linear layers with ReLU between them",
            "in=784, hidden=512, layers=3, classes=10"},
           build_mlp}};
}

}  // namespace foretrain::zoo
