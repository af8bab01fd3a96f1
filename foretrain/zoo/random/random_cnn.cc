// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "foretrain/zoo/detail/layers.h"
#include "foretrain/zoo/random/random_families.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

enum class Block { Plain, Basic, Bottleneck, Separable, Branches };

// What one network has throughout.
struct Style {
  std::int64_t depth = 0;  // convolutions on the longest path
  std::int64_t width = 0;  // channels of the first stage
  std::int64_t growth_percent = 0;
  std::int64_t blocks_per_stage = 0;
  Kind activation = Kind::Relu;
  Block usual = Block::Plain;
  bool norm = false;
  bool mixed = false;    // other blocks among the usual ones
  bool squeeze = false;  // channels are weighted by their means
};

constexpr double kMostMacs = 10e9;   // per image; no block is added beyond
constexpr std::int64_t kWide = 256;  // channels beyond which windows are at most 3 x 3
constexpr std::int64_t kLeastDepth = 3;
constexpr std::int64_t kMostChannels = 1024;
constexpr double kMostDenseWeights = 32e6;

std::int64_t rounded(std::int64_t channels) {
  return std::clamp<std::int64_t>(channels / 8 * 8, 8, kMostChannels);
}

class RandomCnn {
 public:
  RandomCnn(Builder& builder, Draw& draw) : builder_(builder), draw_(draw) { draw_style(); }

  TensorId features(TensorId x) {
    x = stem(x);
    std::int64_t width = style_.width;
    std::int64_t in_stage = 0;
    while (depth_ < style_.depth && (depth_ < kLeastDepth || macs_ < kMostMacs)) {
      if (in_stage == style_.blocks_per_stage && space(x) >= 8) {
        width = rounded(width * style_.growth_percent / 100);
        in_stage = 0;
        x = shrink(x);
      }
      const Scope scope(builder_, "features." + std::to_string(index_++));
      x = block(x, width);
      ++in_stage;
    }
    return x;
  }

  TensorId head(TensorId x, std::int64_t classes) {
    const bool pooled = draw_.chance(75) || space(x) > 14;
    x = pooled ? spatial_mean(builder_, x) : flatten(builder_, x);
    const std::int64_t layers = draw_.pick({0, 0, 0, 1, 2});
    const std::int64_t width = 64 * draw_.between(1, 32);
    for (std::int64_t i = 0; i < layers; ++i) {
      const double weights = static_cast<double>(builder_.shape(x)[1].factor * width);
      if (weights > kMostDenseWeights) break;
      x = activate(linear(builder_, "dense" + std::to_string(i), x, width));
      if (draw_.chance(50)) x = dropout(builder_, "", x);
    }
    return linear(builder_, "classifier", x, classes);
  }

 private:
  void draw_style() {
    style_.depth = draw_.chance(50) ? draw_.between(kLeastDepth, 14) : draw_.between(8, 40);
    style_.width = 8 * draw_.pick({1, 2, 2, 3, 4, 4, 6, 8, 8, 12});
    style_.growth_percent = draw_.pick({100, 150, 200, 200});
    style_.blocks_per_stage = draw_.between(1, std::max<std::int64_t>(1, style_.depth / 6));
    style_.activation =
        draw_.pick({Kind::Relu, Kind::Relu, Kind::Relu, Kind::Relu, Kind::Relu6, Kind::LeakyRelu,
                    Kind::Silu, Kind::HardSwish, Kind::Gelu, Kind::Elu, Kind::Tanh});
    style_.usual = draw_.pick({Block::Plain, Block::Plain, Block::Basic, Block::Bottleneck,
                               Block::Separable, Block::Branches});
    style_.norm = draw_.chance(75);
    style_.mixed = draw_.chance(40);
    style_.squeeze = draw_.chance(15);
  }

  std::int64_t space(TensorId x) const { return builder_.shape(x)[2].factor; }

  TensorId activate(TensorId x) {
    if (style_.activation == Kind::Relu) return relu(builder_, "", x);
    if (style_.activation == Kind::Relu6) return relu6(builder_, "", x);
    return builder_.add(style_.activation, {x});
  }

  TensorId convolve(const std::string& name, TensorId x, std::int64_t width, std::int64_t kernel,
                    std::int64_t stride = 1, std::int64_t groups = 1) {
    const auto in = static_cast<double>(channels(builder_, x) / groups);
    const TensorId y = conv(builder_, name, x,
                            {.channels = width,
                             .kernel = kernel,
                             .stride = stride,
                             .padding = kernel / 2,
                             .groups = groups,
                             .bias = !style_.norm});
    const auto outputs = static_cast<double>(width * space(y) * space(y));
    macs_ += outputs * in * static_cast<double>(kernel * kernel);
    return style_.norm ? batch_norm(builder_, name + "_norm", y) : y;
  }

  TensorId convolve_active(const std::string& name, TensorId x, std::int64_t width,
                           std::int64_t kernel, std::int64_t stride = 1, std::int64_t groups = 1) {
    return activate(convolve(name, x, width, kernel, stride, groups));
  }

  // Large images are made small at once, as all published networks do.
  TensorId stem(TensorId x) {
    const Scope scope(builder_, "stem");
    const bool large = space(x) >= 96;
    const std::int64_t kernel = large ? draw_.pick({3, 5, 7}) : draw_.pick({3, 3, 3, 5});
    x = convolve_active("conv", x, style_.width, kernel, large ? 2 : 1);
    depth_ = 1;
    return large && draw_.chance(70) ? max_pool(builder_, "", x, {3, 2, 1}) : x;
  }

  TensorId shrink(TensorId x) {
    switch (draw_.between(0, 3)) {
      case 0:
        return max_pool(builder_, "", x, {2, 2, 0});
      case 1:
        return avg_pool(builder_, "", x, {2, 2, 0});
      default:
        stride_ = 2;  // of the next block
        return x;
    }
  }

  TensorId block(TensorId x, std::int64_t width) {
    Block kind = style_.usual;
    if (style_.mixed && draw_.chance(40)) {
      kind = draw_.pick(
          {Block::Plain, Block::Basic, Block::Bottleneck, Block::Separable, Block::Branches});
    }
    const std::int64_t left = style_.depth - depth_;
    const std::int64_t stride = std::exchange(stride_, 1);
    if (left < 3 && (kind == Block::Bottleneck || kind == Block::Separable)) kind = Block::Plain;
    if (left < 2) kind = Block::Plain;
    switch (kind) {
      case Block::Basic:
        return basic(x, width, stride);
      case Block::Bottleneck:
        return bottleneck(x, width, stride);
      case Block::Separable:
        return separable(x, width, stride);
      case Block::Branches:
        return branches(x, width, stride);
      case Block::Plain:
        break;
    }
    depth_ += 1;
    return convolve_active("conv", x, width, window({1, 3, 3, 3, 3, 5, 7}, width), stride);
  }

  std::int64_t window(std::initializer_list<std::int64_t> list, std::int64_t width) {
    const std::int64_t drawn = draw_.pick(list);
    return width > kWide ? std::min<std::int64_t>(drawn, 3) : drawn;
  }

  // `y` plus the block's input, brought to its shape where it has another.
  TensorId add_input(TensorId x, TensorId y, std::int64_t stride) {
    if (style_.squeeze) y = squeeze(y);
    if (!(builder_.shape(x) == builder_.shape(y))) {
      x = convolve("shortcut", x, channels(builder_, y), 1, stride);
    }
    return builder_.add(Kind::Add, {y, x});
  }

  TensorId basic(TensorId x, std::int64_t width, std::int64_t stride) {
    depth_ += 2;
    TensorId y = convolve_active("conv1", x, width, 3, stride);
    y = convolve("conv2", y, width, window({3, 3, 3, 5}, width));
    return activate(add_input(x, y, stride));
  }

  TensorId bottleneck(TensorId x, std::int64_t width, std::int64_t stride) {
    depth_ += 3;
    const std::int64_t inner = rounded(width / draw_.pick({2, 4}));
    const std::int64_t groups = draw_.chance(25) && inner % 32 == 0 ? inner / 8 : 1;
    TensorId y = convolve_active("conv1", x, inner, 1);
    y = convolve_active("conv2", y, inner, 3, stride, groups);
    y = convolve("conv3", y, width, 1);
    return activate(add_input(x, y, stride));
  }

  // Wide, each channel by itself, narrow again; with the input added where it has the shape.
  TensorId separable(TensorId x, std::int64_t width, std::int64_t stride) {
    depth_ += 3;
    const std::int64_t inner = rounded(channels(builder_, x) * draw_.pick({1, 2, 4, 6}));
    TensorId y = convolve_active("expand", x, inner, 1);
    y = convolve_active("depthwise", y, inner, draw_.pick({3, 3, 5, 7}), stride, inner);
    if (style_.squeeze) y = squeeze(y);
    y = convolve("project", y, width, 1);
    const bool same = builder_.shape(x) == builder_.shape(y);
    return same ? builder_.add(Kind::Add, {y, x}) : y;
  }

  TensorId branches(TensorId x, std::int64_t width, std::int64_t stride) {
    depth_ += 2;
    const std::int64_t count = draw_.between(2, 4);
    const std::int64_t each = rounded(width / count);
    std::vector<TensorId> parts;
    for (std::int64_t i = 0; i < count; ++i) {
      const Scope scope(builder_, "branch" + std::to_string(i));
      parts.push_back(branch(x, each, stride));
    }
    return concat(builder_, parts);
  }

  TensorId branch(TensorId x, std::int64_t width, std::int64_t stride) {
    switch (draw_.between(0, 3)) {
      case 0:
        return convolve_active("conv", x, width, 1, stride);
      case 1:
        x = draw_.chance(50) ? max_pool(builder_, "", x, {3, stride, 1})
                             : avg_pool(builder_, "", x, {3, stride, 1});
        return convolve_active("conv", x, width, 1);
      default:
        x = convolve_active("conv1", x, rounded(width * 3 / 4), 1);
        return convolve_active("conv2", x, width, window({3, 3, 5, 7}, width), stride);
    }
  }

  // Each channel times a weight between 0 and 1 that two layers make of all channels' means.
  TensorId squeeze(TensorId x) {
    const Scope scope(builder_, "squeeze");
    const std::int64_t width = channels(builder_, x);
    TensorId weights = spatial_mean(builder_, x);
    weights = activate(linear(builder_, "fc1", weights, rounded(width / 4)));
    weights = builder_.add(Kind::Sigmoid, {linear(builder_, "fc2", weights, width)});
    weights = builder_.add(Kind::Reshape, {weights}, Attributes{{Attr::Shape, {0, 0, 1, 1}}});
    return builder_.add(Kind::Mul, {x, weights});
  }

  Builder& builder_;
  Draw& draw_;
  Style style_;
  std::int64_t depth_ = 0;
  std::int64_t index_ = 0;
  std::int64_t stride_ = 1;
  double macs_ = 0;
};

}  // namespace

graph::Graph build_random_cnn(Spec& spec, Draw& draw) {
  Builder builder(spec.name());
  const TensorId input = images(builder, spec, 32, 8);
  const std::int64_t count = classes(spec, 10);
  RandomCnn cnn(builder, draw);
  const TensorId x = cnn.features(input);
  return finish_classifier(builder, cnn.head(x, count));
}

}  // namespace foretrain::zoo
