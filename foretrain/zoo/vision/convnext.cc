// SPDX-License-Identifier: Apache-2.0
// ConvNeXt (Liu et al., CVPR 2022), as in torchvision.
#include <array>

#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/language/transformer_layers.h"
#include "foretrain/zoo/vision/vision_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

struct Row {
  const char* name;
  const char* about;
  int channels;  // of the first stage; each further one has twice as many
  std::array<int, 4> blocks;
};

constexpr std::array kRows{
    Row{"convnext_tiny", "ConvNeXt, tiny", 96, {3, 3, 9, 3}},
    Row{"convnext_small", "ConvNeXt, small", 96, {3, 3, 27, 3}},
    Row{"convnext_base", "ConvNeXt, base", 128, {3, 3, 27, 3}},
    Row{"convnext_large", "ConvNeXt, large", 192, {3, 3, 27, 3}},
};

// Over the channels. The stem's output is copied to have them last; from there on convolutions
// keep that order of memory, so that turning the axes is a view.
TensorId norm_channels(Builder& b, const std::string& name, TensorId x, bool copied) {
  x = channels_last(b, x);
  if (copied) x = b.add(Kind::Contiguous, {x});
  return channels_first(b, layer_norm(b, name, x));
}

TensorId block(Builder& b, TensorId x, bool first) {
  const std::int64_t width = channels(b, x);
  const TensorId scale = b.parameter("layer_scale", {width, 1, 1});
  TensorId y = x;
  {
    const Scope scope(b, "block");
    y = conv(b, "0", y,
             {.channels = width, .kernel = 7, .padding = 3, .groups = width, .bias = true});
    y = layer_norm(b, "2", channels_last(b, y));
    y = linear(b, "5", gelu(b, "4", linear(b, "3", y, 4 * width)), width);
    y = channels_first(b, y);
  }
  y = b.add(Kind::Mul, {scale, y});
  return add_residual(b, first ? y : stochastic_depth(b, y), x);
}

TensorId features(Builder& b, TensorId x, const Row& row) {
  const Scope scope(b, "features");
  {
    const Scope stem(b, "0");
    x = conv(b, "0", x, {.channels = row.channels, .kernel = 4, .stride = 4, .bias = true});
    x = norm_channels(b, "1", x, true);
  }
  int index = 0;
  for (std::size_t stage = 0; stage < row.blocks.size(); ++stage) {
    if (stage > 0) {
      const Scope halving(b, std::to_string(++index));
      x = norm_channels(b, "0", x, false);
      x = conv(b, "1", x, {.channels = 2 * channels(b, x), .kernel = 2, .stride = 2, .bias = true});
    }
    const Scope outer(b, std::to_string(++index));
    for (int i = 0; i < row.blocks[stage]; ++i) {
      const Scope inner(b, std::to_string(i));
      x = block(b, x, stage == 0 && i == 0);
    }
  }
  return x;
}

graph::Graph build_convnext(Spec& spec) {
  const Row& row = row_of(kRows, spec);
  Builder b(spec.name());
  TensorId x = features(b, images(b, spec, 224, 32), row);
  x = adaptive_avg_pool(b, "avgpool", x, 1);
  {
    const Scope scope(b, "classifier");
    x = flatten(b, norm_channels(b, "0", x, false));
    x = linear(b, "2", x, classes(spec, 1000));
  }
  return finish_classifier(b, x);
}

}  // namespace

std::vector<Entry> convnext_entries() {
  return entries_of(kRows, "ConvNeXt", "image=224, classes=1000", build_convnext);
}

}  // namespace foretrain::zoo
