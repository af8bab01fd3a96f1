// SPDX-License-Identifier: Apache-2.0
// MobileNet v2 (Sandler et al., CVPR 2018), as in torchvision.
#include <array>

#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/vision/vision_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

struct Stage {
  int expansion;
  int channels;
  int blocks;
  int stride;  // of the first block
};

constexpr std::array kStages{
    Stage{1, 16, 1, 1}, Stage{6, 24, 2, 2},  Stage{6, 32, 3, 2},  Stage{6, 64, 4, 2},
    Stage{6, 96, 3, 1}, Stage{6, 160, 3, 2}, Stage{6, 320, 1, 1},
};

TensorId unit(Builder& b, const std::string& name, TensorId x, const Conv& layer) {
  return conv_unit(b, name, x, layer, Kind::Relu6);
}

TensorId inverted_residual(Builder& b, TensorId x, const Stage& stage, std::int64_t stride) {
  const std::int64_t in = channels(b, x);
  const std::int64_t hidden = in * stage.expansion;
  TensorId y = x;
  {
    const Scope scope(b, "conv");
    int index = 0;
    const auto next = [&index] { return std::to_string(index++); };
    if (stage.expansion != 1) y = unit(b, next(), y, {.channels = hidden});
    y = unit(b, next(), y, padded_conv(hidden, 3, stride, hidden));
    y = conv(b, next(), y, {.channels = stage.channels});
    y = batch_norm(b, next(), y);
  }
  return stride == 1 && in == stage.channels ? b.add(Kind::Add, {x, y}) : y;
}

TensorId features(Builder& b, TensorId x) {
  const Scope scope(b, "features");
  int index = 0;
  const auto next = [&index] { return std::to_string(index++); };
  x = unit(b, next(), x, {.channels = 32, .kernel = 3, .stride = 2, .padding = 1});
  for (const Stage& stage : kStages) {
    for (int i = 0; i < stage.blocks; ++i) {
      const Scope inner(b, next());
      x = inverted_residual(b, x, stage, i == 0 ? stage.stride : 1);
    }
  }
  return unit(b, next(), x, {.channels = 1280});
}

graph::Graph build_mobilenet(Spec& spec) {
  Builder b(spec.name());
  TensorId x = features(b, images(b, spec, 224, 32));
  x = flatten(b, adaptive_avg_pool(b, "", x, 1));
  {
    const Scope scope(b, "classifier");
    x = linear(b, "1", dropout(b, "0", x), classes(spec, 1000));
  }
  return finish_classifier(b, x);
}

}  // namespace

std::vector<Entry> mobilenet_entries() {
  return {{{"mobilenet_v2", "MobileNet", "MobileNet v2, width 1", "image=224, classes=1000"},
           build_mobilenet}};
}

}  // namespace foretrain::zoo
