// SPDX-License-Identifier: Apache-2.0
// CycleGAN (Zhu, Park, Isola, Efros, ICCV 2017): two generators and two discriminators learn at
// once, as in github.com/eriklindernoren/PyTorch-GAN, the port that Gavel (OSDI 2020) runs.
#include <string>
#include <utility>
#include <vector>

#include "foretrain/base/error.h"
#include "foretrain/zoo/registry.h"
#include "foretrain/zoo/vision_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

// A network that runs several times a step. The first run makes its weights, further ones use them
// in the same order.
class Network {
 public:
  Network(Builder& b, std::string name) : b_(b), name_(std::move(name)) {}
  virtual ~Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  TensorId operator()(TensorId x) {
    next_ = 0;
    index_ = 0;
    const Scope scope(b_, name_ + ".model");
    return run(x);
  }

 protected:
  virtual TensorId run(TensorId x) = 0;

  std::string next_name() { return std::to_string(index_++); }
  void skip() { ++index_; }

  TensorId convolution(TensorId x, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                       std::int64_t padding) {
    const Scope scope(b_, next_name());
    if (next_ == weights_.size()) {
      weights_.push_back(b_.parameter("weight", {out, channels(b_, x), kernel, kernel}));
      weights_.push_back(b_.parameter("bias", {out}));
    }
    const TensorId weight = weights_[next_++];
    const TensorId bias = weights_[next_++];
    graph::Attributes attributes;
    if (stride > 1) attributes.set(Attr::Stride, {stride});
    if (padding > 0) attributes.set(Attr::Padding, {padding});
    return b_.add(Kind::Conv, {x, weight, bias}, attributes);
  }

  // Without parameters.
  TensorId instance_norm(TensorId x) {
    const Scope scope(b_, next_name());
    return b_.add(Kind::GroupNorm, {x}, {{Attr::Groups, {channels(b_, x)}}});
  }

  // By reflection, on all sides.
  TensorId pad(TensorId x, std::int64_t by) {
    const Scope scope(b_, next_name());
    return b_.add(Kind::Pad, {x}, {{Attr::Padding, {0, 0, by, by, 0, 0, by, by}}});
  }

  Builder& b_;

 private:
  std::string name_;
  std::vector<TensorId> weights_;
  std::size_t next_ = 0;  // of them
  int index_ = 0;         // of the next module
};

class Generator : public Network {
 public:
  using Network::Network;

 private:
  TensorId unit(TensorId x, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                std::int64_t padding) {
    x = instance_norm(convolution(x, out, kernel, stride, padding));
    return relu(b_, next_name(), x);
  }

  TensorId residual(TensorId x) {
    constexpr std::int64_t kWidth = 256;
    const TensorId y = unit(pad(x, 1), kWidth, 3, 1, 0);
    return b_.add(Kind::Add, {x, instance_norm(convolution(pad(y, 1), kWidth, 3, 1, 0))});
  }

  TensorId run(TensorId x) override {
    x = unit(pad(x, 3), 64, 7, 1, 0);
    for (const int width : {128, 256}) x = unit(x, width, 3, 2, 1);
    for (int i = 0; i < 9; ++i) x = residual(x);
    for (const int width : {128, 64}) {
      skip();
      x = unit(resize(b_, x, 2 * image_size(b_, x).height), width, 3, 1, 1);
    }
    return b_.add(Kind::Tanh, {convolution(pad(x, 3), 3, 7, 1, 0)});
  }
};

class Discriminator : public Network {
 public:
  using Network::Network;

 private:
  TensorId run(TensorId x) override {
    for (const int width : {64, 128, 256, 512}) {
      x = convolution(x, width, 4, 2, 1);
      if (width > 64) x = instance_norm(x);
      x = activate(b_, next_name(), Kind::LeakyRelu, x);
    }
    x = b_.add(Kind::Pad, {x}, {{Attr::Padding, {0, 0, 1, 1, 0, 0, 0, 0}}});
    skip();
    return convolution(x, 1, 4, 1, 1);
  }
};

// One of the two directions: what the generator makes of `real` images of its own kind.
struct Side {
  TensorId real{};
  TensorId wanted{};    // by the discriminator of what is real
  TensorId replayed{};  // images that the generator made earlier
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
  Generator to_z(b, "G_AB");
  Generator to_a(b, "G_BA");
  Discriminator judge_a(b, "D_A");
  Discriminator judge_z(b, "D_B");
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
  b.note("generators and discriminators learn in one backward pass; in truth one after the other, "
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
