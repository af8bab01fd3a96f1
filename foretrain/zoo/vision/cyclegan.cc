// SPDX-License-Identifier: Apache-2.0
// CycleGAN (Zhu, Park, Isola, Efros, ICCV 2017): two generators and two discriminators learn at
// once, as in github.com/eriklindernoren/PyTorch-GAN, the port that Gavel (OSDI 2020) runs.
#include <string>
#include <utility>
#include <vector>

#include "foretrain/base/error.h"
#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/vision/vision_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

// The layers of a network that runs several times a step. The first run makes their weights,
// further ones use them in the same order.
class Layers {
 public:
  Layers(Builder& builder, std::string name) : builder_(builder), name_(std::move(name)) {}

  // Begins a run.
  void rewind() {
    weight_ = 0;
    module_ = 0;
  }
  std::string module() { return name_ + ".model." + std::to_string(module_++); }

  TensorId convolution(TensorId x, const Conv& layer) {
    const Scope scope(builder_, module());
    if (weight_ == weights_.size()) {
      const std::int64_t kernel = layer.kernel.height;
      weights_.push_back(
          builder_.parameter("weight", {layer.channels, channels(builder_, x), kernel, kernel}));
      weights_.push_back(builder_.parameter("bias", {layer.channels}));
    }
    const TensorId weight = weights_[weight_++];
    const TensorId bias = weights_[weight_++];
    graph::Attributes attributes;
    if (layer.stride > 1) attributes.set(Attr::Stride, {layer.stride});
    if (layer.padding.height > 0) attributes.set(Attr::Padding, {layer.padding.height});
    return builder_.add(Kind::Conv, {x, weight, bias}, attributes);
  }

  // Without parameters.
  TensorId instance_norm(TensorId x) {
    const Scope scope(builder_, module());
    return builder_.add(Kind::GroupNorm, {x}, {{Attr::Groups, {channels(builder_, x)}}});
  }

  // By reflection, on all sides.
  TensorId pad(TensorId x, std::int64_t by) {
    const Scope scope(builder_, module());
    return builder_.add(Kind::Pad, {x}, {{Attr::Padding, {0, 0, by, by, 0, 0, by, by}}});
  }

  TensorId unit(TensorId x, const Conv& layer) {
    x = instance_norm(convolution(x, layer));
    return relu(builder_, module(), x);
  }

 private:
  Builder& builder_;
  std::string name_;
  std::vector<TensorId> weights_;
  std::size_t weight_ = 0;  // the next of them
  int module_ = 0;          // the next one's number
};

TensorId residual(Builder& b, Layers& layers, TensorId x) {
  const Conv three{.channels = 256, .kernel = 3};
  const TensorId y = layers.unit(layers.pad(x, 1), three);
  return b.add(Kind::Add, {x, layers.instance_norm(layers.convolution(layers.pad(y, 1), three))});
}

TensorId generate(Builder& b, Layers& layers, TensorId x) {
  layers.rewind();
  x = layers.unit(layers.pad(x, 3), {.channels = 64, .kernel = 7});
  for (const int width : {128, 256}) x = layers.unit(x, padded_conv(width, 3, 2));
  for (int i = 0; i < 9; ++i) x = residual(b, layers, x);
  for (const int width : {128, 64}) {
    layers.module();  // the enlargement
    x = layers.unit(resize(b, x, 2 * image_size(b, x).height), padded_conv(width, 3));
  }
  return b.add(Kind::Tanh, {layers.convolution(layers.pad(x, 3), {.channels = 3, .kernel = 7})});
}

// How real each patch of an image looks.
TensorId judge(Builder& b, Layers& layers, TensorId x) {
  layers.rewind();
  for (const int width : {64, 128, 256, 512}) {
    x = layers.convolution(x, {.channels = width, .kernel = 4, .stride = 2, .padding = 1});
    if (width > 64) x = layers.instance_norm(x);
    x = activate(b, layers.module(), Kind::LeakyRelu, x);
  }
  layers.module();  // the padding
  x = b.add(Kind::Pad, {x}, {{Attr::Padding, {0, 0, 1, 1, 0, 0, 0, 0}}});
  return layers.convolution(x, {.channels = 1, .kernel = 4, .padding = 1});
}

// One of the two kinds of images.
struct Side {
  TensorId real{};
  TensorId wanted{};    // from the discriminator where it looks at real ones
  TensorId replayed{};  // which its generator made earlier
};

Side side(Builder& b, const std::string& name, std::int64_t image) {
  const std::int64_t grid = image / 16;
  return {b.input("real_" + name, {b.batch(), 3, image, image}),
          b.buffer("valid_" + name, {b.batch(), 1, grid, grid}),
          b.buffer("replayed_" + name, {b.batch(), 3, image, image})};
}

graph::Graph build_cyclegan(Spec& spec) {
  Builder b(spec.name());
  const std::int64_t image = spec.take("image", 256, 32, kLargestImage);
  if (image % 16 != 0) {
    throw Error(ErrorKind::BadInput, "model 'cyclegan': image must be a multiple of 16");
  }
  const Side a = side(b, "A", image);
  const Side z = side(b, "B", image);
  Layers generator_z(b, "G_AB");
  Layers generator_a(b, "G_BA");
  Layers discriminator_a(b, "D_A");
  Layers discriminator_z(b, "D_B");
  const auto to_z = [&](TensorId x) { return generate(b, generator_z, x); };
  const auto to_a = [&](TensorId x) { return generate(b, generator_a, x); };
  const auto judge_a = [&](TensorId x) { return judge(b, discriminator_a, x); };
  const auto judge_z = [&](TensorId x) { return judge(b, discriminator_z, x); };
  std::vector<TensorId> losses;
  const auto compare = [&](TensorId x, TensorId y) {
    losses.push_back(b.add(Kind::Scale, {b.add(Kind::PointwiseLoss, {x, y})}));
  };
  compare(to_a(a.real), a.real);
  compare(to_z(z.real), z.real);
  const TensorId fake_z = to_z(a.real);
  const TensorId fake_a = to_a(z.real);
  b.output(fake_z);
  b.output(fake_a);
  compare(judge_z(fake_z), z.wanted);
  compare(judge_a(fake_a), a.wanted);
  compare(to_a(fake_z), a.real);
  compare(to_z(fake_a), z.real);
  compare(judge_a(a.real), a.wanted);
  compare(judge_a(a.replayed), a.wanted);
  compare(judge_z(z.real), z.wanted);
  compare(judge_z(z.replayed), z.wanted);
  b.loss(b.add(Kind::Add, losses));
  b.note(
      "generators and discriminators learn in one backward pass; in truth one after the other, "
      "which needs less memory");
  return b.finish();
}

}  // namespace

std::vector<Entry> cyclegan_entries() {
  return {{{"cyclegan", "Image translation",
            "CycleGAN: two generators of nine residual blocks, two discriminators", "image=256"},
           build_cyclegan}};
}

}  // namespace foretrain::zoo
