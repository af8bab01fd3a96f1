// SPDX-License-Identifier: Apache-2.0
// Inception v3 (Szegedy et al., CVPR 2016), as in torchvision, whose names it keeps: modules A
// to E, the auxiliary classifier on Mixed_6e that takes part in training only.
#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/vision/vision_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

constexpr std::int64_t kUsualImage = 299;
constexpr std::int64_t kLeastImage = 75;
// Smaller images leave the auxiliary classifier's 5x5 convolution nothing.
constexpr std::int64_t kLeastWithAux = 299;

constexpr Pool kSamePool{.kernel = 3, .stride = 1, .padding = 1};
constexpr Pool kHalvingPool{.kernel = 3, .stride = 2};

TensorId unit(Builder& b, const std::string& name, TensorId x, const Conv& layer) {
  const Scope scope(b, name);
  return relu(b, "", batch_norm(b, "bn", conv(b, "conv", x, layer)));
}

// Keeps the image's size.
Conv same(std::int64_t channels, Pair kernel = 1) { return padded_conv(channels, kernel); }

Conv halving(std::int64_t channels) { return {.channels = channels, .kernel = 3, .stride = 2}; }

TensorId pooled(Builder& b, TensorId x, std::int64_t channels) {
  return unit(b, "branch_pool", avg_pool(b, "", x, kSamePool), same(channels));
}

TensorId module_a(Builder& b, const std::string& name, TensorId x, std::int64_t pool_channels) {
  const Scope scope(b, name);
  const TensorId point = unit(b, "branch1x1", x, same(64));
  TensorId five = unit(b, "branch5x5_1", x, same(48));
  five = unit(b, "branch5x5_2", five, same(64, 5));
  TensorId three = unit(b, "branch3x3dbl_1", x, same(64));
  three = unit(b, "branch3x3dbl_2", three, same(96, 3));
  three = unit(b, "branch3x3dbl_3", three, same(96, 3));
  return concat(b, {point, five, three, pooled(b, x, pool_channels)});
}

TensorId module_b(Builder& b, const std::string& name, TensorId x) {
  const Scope scope(b, name);
  const TensorId three = unit(b, "branch3x3", x, halving(384));
  TensorId twice = unit(b, "branch3x3dbl_1", x, same(64));
  twice = unit(b, "branch3x3dbl_2", twice, same(96, 3));
  twice = unit(b, "branch3x3dbl_3", twice, halving(96));
  return concat(b, {three, twice, max_pool(b, "", x, kHalvingPool)});
}

TensorId module_c(Builder& b, const std::string& name, TensorId x, std::int64_t c7) {
  const Scope scope(b, name);
  const TensorId point = unit(b, "branch1x1", x, same(192));
  TensorId seven = unit(b, "branch7x7_1", x, same(c7));
  seven = unit(b, "branch7x7_2", seven, same(c7, {1, 7}));
  seven = unit(b, "branch7x7_3", seven, same(192, {7, 1}));
  TensorId twice = unit(b, "branch7x7dbl_1", x, same(c7));
  twice = unit(b, "branch7x7dbl_2", twice, same(c7, {7, 1}));
  twice = unit(b, "branch7x7dbl_3", twice, same(c7, {1, 7}));
  twice = unit(b, "branch7x7dbl_4", twice, same(c7, {7, 1}));
  twice = unit(b, "branch7x7dbl_5", twice, same(192, {1, 7}));
  return concat(b, {point, seven, twice, pooled(b, x, 192)});
}

TensorId module_d(Builder& b, const std::string& name, TensorId x) {
  const Scope scope(b, name);
  TensorId three = unit(b, "branch3x3_1", x, same(192));
  three = unit(b, "branch3x3_2", three, halving(320));
  TensorId seven = unit(b, "branch7x7x3_1", x, same(192));
  seven = unit(b, "branch7x7x3_2", seven, same(192, {1, 7}));
  seven = unit(b, "branch7x7x3_3", seven, same(192, {7, 1}));
  seven = unit(b, "branch7x7x3_4", seven, halving(192));
  return concat(b, {three, seven, max_pool(b, "", x, kHalvingPool)});
}

// A 1x3 and a 3x1 convolution side by side.
TensorId fork(Builder& b, const std::string& stem, TensorId x) {
  const TensorId flat = unit(b, stem + "a", x, same(384, {1, 3}));
  return concat(b, {flat, unit(b, stem + "b", x, same(384, {3, 1}))});
}

TensorId module_e(Builder& b, const std::string& name, TensorId x) {
  const Scope scope(b, name);
  const TensorId point = unit(b, "branch1x1", x, same(320));
  const TensorId three = fork(b, "branch3x3_2", unit(b, "branch3x3_1", x, same(384)));
  TensorId twice = unit(b, "branch3x3dbl_1", x, same(448));
  twice = fork(b, "branch3x3dbl_3", unit(b, "branch3x3dbl_2", twice, same(384, 3)));
  return concat(b, {point, three, twice, pooled(b, x, 192)});
}

TensorId aux_logits(Builder& b, TensorId x, std::int64_t classes) {
  const Scope scope(b, "AuxLogits");
  x = avg_pool(b, "", x, {.kernel = 5, .stride = 3});
  x = unit(b, "conv1", unit(b, "conv0", x, same(128)), {.channels = 768, .kernel = 5});
  return linear(b, "fc", flatten(b, adaptive_avg_pool(b, "", x, 1)), classes);
}

TensorId stem(Builder& b, TensorId x) {
  x = unit(b, "Conv2d_1a_3x3", x, halving(32));
  x = unit(b, "Conv2d_2a_3x3", x, {.channels = 32, .kernel = 3});
  x = max_pool(b, "maxpool1", unit(b, "Conv2d_2b_3x3", x, same(64, 3)), kHalvingPool);
  x = unit(b, "Conv2d_4a_3x3", unit(b, "Conv2d_3b_1x1", x, same(80)),
           {.channels = 192, .kernel = 3});
  return max_pool(b, "maxpool2", x, kHalvingPool);
}

// Up to Mixed_6e.
TensorId middle(Builder& b, TensorId x) {
  x = module_a(b, "Mixed_5b", x, 32);
  x = module_a(b, "Mixed_5c", x, 64);
  x = module_a(b, "Mixed_5d", x, 64);
  x = module_b(b, "Mixed_6a", x);
  x = module_c(b, "Mixed_6b", x, 128);
  x = module_c(b, "Mixed_6c", x, 160);
  x = module_c(b, "Mixed_6d", x, 160);
  return module_c(b, "Mixed_6e", x, 192);
}

TensorId top(Builder& b, TensorId x, std::int64_t classes) {
  x = module_d(b, "Mixed_7a", x);
  x = module_e(b, "Mixed_7c", module_e(b, "Mixed_7b", x));
  x = dropout(b, "dropout", adaptive_avg_pool(b, "avgpool", x, 1));
  return linear(b, "fc", flatten(b, x), classes);
}

graph::Graph build_inception(Spec& spec) {
  const bool with_aux = spec.take("aux", 1, 0, 1) != 0;
  Builder b(spec.name());
  TensorId x = images(b, spec, kUsualImage, with_aux ? kLeastWithAux : kLeastImage);
  const std::int64_t count = classes(spec, 1000);
  x = middle(b, stem(b, x));
  if (!with_aux) return finish_classifier(b, top(b, x, count));

  // Loss of the classifier plus 0.4 times that of the auxiliary one, as torchvision trains it
  // (references/classification).
  const TensorId aux = aux_logits(b, x, count);
  const TensorId logits = top(b, x, count);
  b.output(logits);
  const TensorId numbers = targets(b);
  const TensorId main_loss = cross_entropy(b, "loss", logits, numbers);
  const TensorId aux_loss = cross_entropy(b, "aux_loss", aux, numbers);
  b.enter("loss");
  b.loss(b.add(Kind::Add, {main_loss, b.add(Kind::Scale, {aux_loss})}));
  b.leave();
  return b.finish();
}

}  // namespace

std::vector<Entry> inception_entries() {
  return {{{"inception_v3", "Inception",
            "Inception v3; aux=1 trains the auxiliary classifier too, for images from 299",
            "image=299, classes=1000, aux=1"},
           build_inception}};
}

}  // namespace foretrain::zoo
