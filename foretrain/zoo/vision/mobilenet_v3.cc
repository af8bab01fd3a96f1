// SPDX-License-Identifier: Apache-2.0
// MobileNet v3 (Howard et al., ICCV 2019), as in torchvision.
#include <span>

#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/vision/vision_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

struct Block {
  int kernel;
  int expanded;
  int channels;
  bool squeeze;
  bool swish;  // hard swish in place of ReLU
  int stride;
};

constexpr Block kLarge[] = {
    {3, 16, 16, false, false, 1}, {3, 64, 24, false, false, 2}, {3, 72, 24, false, false, 1},
    {5, 72, 40, true, false, 2},  {5, 120, 40, true, false, 1}, {5, 120, 40, true, false, 1},
    {3, 240, 80, false, true, 2}, {3, 200, 80, false, true, 1}, {3, 184, 80, false, true, 1},
    {3, 184, 80, false, true, 1}, {3, 480, 112, true, true, 1}, {3, 672, 112, true, true, 1},
    {5, 672, 160, true, true, 2}, {5, 960, 160, true, true, 1}, {5, 960, 160, true, true, 1},
};

constexpr Block kSmall[] = {
    {3, 16, 16, true, false, 2}, {3, 72, 24, false, false, 2}, {3, 88, 24, false, false, 1},
    {5, 96, 40, true, true, 2},  {5, 240, 40, true, true, 1},  {5, 240, 40, true, true, 1},
    {5, 120, 48, true, true, 1}, {5, 144, 48, true, true, 1},  {5, 288, 96, true, true, 2},
    {5, 576, 96, true, true, 1}, {5, 576, 96, true, true, 1},
};

TensorId inverted_residual(Builder& b, TensorId x, const Block& block) {
  const Kind activation = block.swish ? Kind::HardSwish : Kind::Relu;
  const std::int64_t in = channels(b, x);
  TensorId y = x;
  {
    const Scope scope(b, "block");
    int index = 0;
    const auto next = [&index] { return std::to_string(index++); };
    if (block.expanded != in) {
      y = conv_unit(b, next(), y, padded_conv(block.expanded, 1), activation);
    }
    y = conv_unit(b, next(), y,
                  padded_conv(block.expanded, block.kernel, block.stride, block.expanded),
                  activation);
    if (block.squeeze) {
      y = squeeze_excite(b, next(), y,
                         {.channels = multiple_of_8(0.25 * block.expanded),
                          .activation = Kind::Relu,
                          .gate = Kind::HardSigmoid});
    }
    y = conv_unit(b, next(), y, padded_conv(block.channels, 1), Kind::Identity);
  }
  return block.stride == 1 && in == block.channels ? add_residual(b, y, x) : y;
}

TensorId features(Builder& b, TensorId x, std::span<const Block> blocks) {
  const Scope scope(b, "features");
  int index = 0;
  const auto next = [&index] { return std::to_string(index++); };
  x = conv_unit(b, next(), x, padded_conv(16, 3, 2), Kind::HardSwish);
  for (const Block& block : blocks) {
    const Scope inner(b, next());
    x = inverted_residual(b, x, block);
  }
  return conv_unit(b, next(), x, padded_conv(6 * channels(b, x), 1), Kind::HardSwish);
}

graph::Graph build_mobilenet_v3(Spec& spec) {
  const bool large = spec.name() == "mobilenet_v3_large";
  Builder b(spec.name());
  TensorId x = images(b, spec, 224, 32);
  x = features(b, x, large ? std::span<const Block>(kLarge) : std::span<const Block>(kSmall));
  x = flatten(b, adaptive_avg_pool(b, "avgpool", x, 1));
  {
    const Scope scope(b, "classifier");
    x = activate(b, "1", Kind::HardSwish, linear(b, "0", x, large ? 1280 : 1024));
    x = linear(b, "3", dropout(b, "2", x), classes(spec, 1000));
  }
  return finish_classifier(b, x);
}

}  // namespace

std::vector<Entry> mobilenet_v3_entries() {
  const std::string parameters = "image=224, classes=1000";
  return {
      {{"mobilenet_v3_large", "MobileNet", "MobileNet v3, large", parameters}, build_mobilenet_v3},
      {{"mobilenet_v3_small", "MobileNet", "MobileNet v3, small", parameters}, build_mobilenet_v3}};
}

}  // namespace foretrain::zoo
