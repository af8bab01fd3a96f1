// SPDX-License-Identifier: Apache-2.0
// SqueezeNet (Iandola et al., arXiv:1602.07360, 2016), as in torchvision.
#include <array>

#include "foretrain/zoo/detail/layers.h"
#include "foretrain/zoo/detail/registry.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Scope;
using graph::TensorId;

// The eight modules squeeze to 16, 16, 32, 32, 48, ... channels; a pooling precedes some.
struct Row {
  const char* name;
  const char* about;
  Conv stem;
  std::array<bool, 8> pooled;
};

constexpr std::array kRows{
    Row{"squeezenet1_0",
        "SqueezeNet 1.0",
        {.channels = 96, .kernel = 7, .stride = 2, .bias = true},
        {true, false, false, true, false, false, false, true}},
    Row{"squeezenet1_1",
        "SqueezeNet 1.1: 2.4 times less work, like accuracy",
        {.channels = 64, .kernel = 3, .stride = 2, .bias = true},
        {true, false, true, false, true, false, false, false}},
};

TensorId fire(Builder& b, TensorId x, std::int64_t squeezed) {
  const std::int64_t expanded = 4 * squeezed;
  x = conv(b, "squeeze", x, {.channels = squeezed, .bias = true});
  x = relu(b, "squeeze_activation", x);
  const TensorId narrow = conv(b, "expand1x1", x, {.channels = expanded, .bias = true});
  const TensorId first = relu(b, "expand1x1_activation", narrow);
  const TensorId wide =
      conv(b, "expand3x3", x, {.channels = expanded, .kernel = 3, .padding = 1, .bias = true});
  return concat(b, {first, relu(b, "expand3x3_activation", wide)});
}

TensorId features(Builder& b, TensorId x, const Row& row) {
  const Scope scope(b, "features");
  int index = 2;
  x = relu(b, "1", conv(b, "0", x, row.stem));
  for (std::size_t i = 0; i < row.pooled.size(); ++i) {
    if (row.pooled[i]) {
      x = max_pool(b, std::to_string(index++), x, {.kernel = 3, .stride = 2, .ceil_mode = true});
    }
    const Scope inner(b, std::to_string(index++));
    x = fire(b, x, 16 * (1 + static_cast<std::int64_t>(i) / 2));
  }
  return x;
}

graph::Graph build_squeezenet(Spec& spec) {
  const Row& row = row_of(kRows, spec);
  Builder b(spec.name());
  TensorId x = features(b, images(b, spec, 224, 32), row);
  {
    const Scope scope(b, "classifier");
    x = conv(b, "1", dropout(b, "0", x), {.channels = classes(spec, 1000), .bias = true});
    x = adaptive_avg_pool(b, "3", relu(b, "2", x), 1);
  }
  return finish_classifier(b, flatten(b, x));
}

}  // namespace

std::vector<Entry> squeezenet_entries() {
  return entries_of(kRows, "SqueezeNet", "image=224, classes=1000", build_squeezenet);
}

}  // namespace foretrain::zoo
