// SPDX-License-Identifier: Apache-2.0
// Inception v4 (Szegedy, Ioffe, Vanhoucke, Alemi, AAAI 2017), as in timm, whose names it keeps.
#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/vision/vision_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Scope;
using graph::TensorId;

constexpr Pool kSamePool{.kernel = 3, .stride = 1, .padding = 1};
constexpr Pool kHalvingPool{.kernel = 3, .stride = 2};

TensorId unit(Builder& b, const std::string& name, TensorId x, const Conv& layer) {
  const Scope scope(b, name);
  return relu(b, "bn", batch_norm(b, "bn", conv(b, "conv", x, layer)));
}

// Keeps the image's size.
Conv same(std::int64_t channels, Pair kernel = 1) { return padded_conv(channels, kernel); }

// 3x3 without padding.
Conv three(std::int64_t channels, std::int64_t stride) {
  return {.channels = channels, .kernel = 3, .stride = stride};
}

constexpr Pair kFlat{1, 7};
constexpr Pair kTall{7, 1};

// Units "0", "1", ... in a row.
TensorId branch(Builder& b, const std::string& name, TensorId x, const std::vector<Conv>& layers) {
  const Scope scope(b, name);
  for (std::size_t i = 0; i < layers.size(); ++i) x = unit(b, std::to_string(i), x, layers[i]);
  return x;
}

TensorId pooled(Builder& b, TensorId x, std::int64_t channels) {
  const Scope scope(b, "branch3");
  return unit(b, "1", avg_pool(b, "0", x, kSamePool), same(channels));
}

TensorId mixed_3a(Builder& b, TensorId x) {
  const TensorId left = max_pool(b, "maxpool", x, kHalvingPool);
  return concat(b, {left, unit(b, "conv", x, three(96, 2))});
}

TensorId mixed_4a(Builder& b, TensorId x) {
  const TensorId left = branch(b, "branch0", x, {same(64), three(96, 1)});
  return concat(b, {left, branch(b, "branch1", x,
                                 {same(64), same(64, kFlat), same(64, kTall), three(96, 1)})});
}

TensorId mixed_5a(Builder& b, TensorId x) {
  const TensorId left = unit(b, "conv", x, three(192, 2));
  return concat(b, {left, max_pool(b, "maxpool", x, kHalvingPool)});
}

TensorId module_a(Builder& b, TensorId x) {
  const TensorId point = unit(b, "branch0", x, same(96));
  const TensorId once = branch(b, "branch1", x, {same(64), same(96, 3)});
  const TensorId twice = branch(b, "branch2", x, {same(64), same(96, 3), same(96, 3)});
  return concat(b, {point, once, twice, pooled(b, x, 96)});
}

TensorId reduction_a(Builder& b, TensorId x) {
  const TensorId once = unit(b, "branch0", x, three(384, 2));
  const TensorId twice = branch(b, "branch1", x, {same(192), same(224, 3), three(256, 2)});
  return concat(b, {once, twice, max_pool(b, "branch2", x, kHalvingPool)});
}

TensorId module_b(Builder& b, TensorId x) {
  const TensorId point = unit(b, "branch0", x, same(384));
  const TensorId once = branch(b, "branch1", x, {same(192), same(224, kFlat), same(256, kTall)});
  const TensorId twice =
      branch(b, "branch2", x,
             {same(192), same(192, kTall), same(224, kFlat), same(224, kTall), same(256, kFlat)});
  return concat(b, {point, once, twice, pooled(b, x, 128)});
}

TensorId reduction_b(Builder& b, TensorId x) {
  const TensorId once = branch(b, "branch0", x, {same(192), three(192, 2)});
  const TensorId seven =
      branch(b, "branch1", x, {same(256), same(256, kFlat), same(320, kTall), three(320, 2)});
  return concat(b, {once, seven, max_pool(b, "branch2", x, kHalvingPool)});
}

// A 1x3 and a 3x1 convolution side by side.
TensorId fork(Builder& b, const std::string& stem, TensorId x) {
  const TensorId flat = unit(b, stem + "a", x, same(256, {1, 3}));
  return concat(b, {flat, unit(b, stem + "b", x, same(256, {3, 1}))});
}

TensorId module_c(Builder& b, TensorId x) {
  const TensorId point = unit(b, "branch0", x, same(256));
  const TensorId once = fork(b, "branch1_1", unit(b, "branch1_0", x, same(384)));
  TensorId twice = unit(b, "branch2_0", x, same(384));
  twice = unit(b, "branch2_1", twice, same(448, {3, 1}));
  twice = fork(b, "branch2_3", unit(b, "branch2_2", twice, same(512, {1, 3})));
  return concat(b, {point, once, twice, pooled(b, x, 256)});
}

TensorId features(Builder& b, TensorId x) {
  const Scope scope(b, "features");
  int index = 0;
  const auto next = [&index] { return std::to_string(index++); };
  x = unit(b, next(), x, three(32, 2));
  x = unit(b, next(), x, three(32, 1));
  x = unit(b, next(), x, same(64, 3));
  const auto repeat = [&](int times, TensorId (*module)(Builder&, TensorId)) {
    for (int i = 0; i < times; ++i) {
      const Scope inner(b, next());
      x = module(b, x);
    }
  };
  for (const auto stem : {mixed_3a, mixed_4a, mixed_5a}) repeat(1, stem);
  repeat(4, module_a);
  repeat(1, reduction_a);
  repeat(7, module_b);
  repeat(1, reduction_b);
  repeat(3, module_c);
  return x;
}

graph::Graph build_inception_v4(Spec& spec) {
  Builder b(spec.name());
  TensorId x = features(b, images(b, spec, 299, 75));
  x = flatten(b, adaptive_avg_pool(b, "global_pool", x, 1));
  return finish_classifier(b, linear(b, "last_linear", x, classes(spec, 1000)));
}

}  // namespace

std::vector<Entry> inception_v4_entries() {
  return {{{"inception_v4", "Inception", "Inception v4, as in timm", "image=299, classes=1000"},
           build_inception_v4}};
}

}  // namespace foretrain::zoo
