// SPDX-License-Identifier: Apache-2.0
// Residual networks (He, Zhang, Ren, Sun, CVPR 2016), ResNeXt (Xie et al., CVPR 2017) and wide
// ones (Zagoruyko, Komodakis, BMVC 2016), layer by layer as in torchvision: "v1.5", where the
// 3x3 convolution of a bottleneck strides.
#include <algorithm>
#include <array>

#include "foretrain/zoo/detail/layers.h"
#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/vision/residual.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

struct Row {
  const char* name;  // of a Residual
  const char* about;
};

constexpr std::array kRows{
    Row{"resnet18", "residual network, 18 layers"},
    Row{"resnet34", "residual network, 34 layers"},
    Row{"resnet50", "residual network v1.5, 50 layers"},
    Row{"resnet101", "residual network v1.5, 101 layers"},
    Row{"resnet152", "residual network v1.5, 152 layers"},
    Row{"resnext50_32x4d", "resnet50 with 32 groups of 4"},
    Row{"resnext101_32x4d", "resnet101 with 32 groups of 4"},
    Row{"resnext101_32x8d", "resnet101 with 32 groups of 8"},
    Row{"resnext101_64x4d", "resnet101 with 64 groups of 4"},
    Row{"se_resnext101_32x4d", "resnext101_32x4d with squeeze-and-excitation, as NVIDIA's"},
    Row{"wide_resnet50_2", "resnet50, bottlenecks twice as wide"},
    Row{"wide_resnet101_2", "resnet101, bottlenecks twice as wide"},
};

// The first five also come for 32x32 images: "resnet18-cifar".
constexpr std::size_t kCifarRows = 5;
constexpr const char* kCifarEnding = "-cifar";

// He's own for CIFAR, of 6n+2 layers.
constexpr std::array kThin{20, 32, 44, 56, 110};

bool is_cifar(const std::string& name) { return name.ends_with(kCifarEnding); }

std::string thin_name(int layers) { return "resnet" + std::to_string(layers) + kCifarEnding; }

TensorId conv_norm(Builder& b, const std::string& ending, TensorId x, const Conv& layer) {
  return batch_norm(b, "bn" + ending, conv(b, "conv" + ending, x, layer));
}

// Every other pixel, channels filled up with zeros (option A: no parameters).
TensorId padded(Builder& b, TensorId x, std::int64_t out, std::int64_t stride) {
  const std::int64_t in = channels(b, x);
  if (stride == 1 && in == out) return x;
  for (const std::int64_t axis : {2, 3}) {
    x = b.add(Kind::Slice, {x}, {{Attr::Axis, {axis}}, {Attr::Step, {stride}}});
  }
  const std::int64_t side = (out - in) / 2;
  return b.add(Kind::Pad, {x}, {{Attr::Padding, {0, side, 0, 0, 0, side, 0, 0}}});
}

TensorId thin_block(Builder& b, TensorId x, std::int64_t out, std::int64_t stride) {
  const Conv first{.channels = out, .kernel = 3, .stride = stride, .padding = 1};
  TensorId y = relu(b, "relu", conv_norm(b, "1", x, first));
  y = conv_norm(b, "2", y, {.channels = out, .kernel = 3, .padding = 1});
  return add_and_relu(b, y, padded(b, x, out, stride));
}

graph::Graph with_head(Builder& b, TensorId x, std::int64_t classes) {
  x = flatten(b, adaptive_avg_pool(b, "avgpool", x, 1));
  return finish_classifier(b, linear(b, "fc", x, classes));
}

TensorId cifar_stem(Builder& b, Spec& spec, std::int64_t width, std::int64_t least) {
  const TensorId x = images(b, spec, 32, least);
  return relu(b, "relu", conv_norm(b, "1", x, {.channels = width, .kernel = 3, .padding = 1}));
}

graph::Graph build_resnet(Spec& spec) {
  const bool cifar = is_cifar(spec.name());
  const std::string name = spec.name().substr(0, spec.name().find(kCifarEnding));
  const Residual& net = residual_named(name);
  Builder b(spec.name());
  TensorId x = cifar ? cifar_stem(b, spec, 64, 8) : residual_stem(b, images(b, spec, 224, 32));
  for (int stage = 0; stage < 4; ++stage) {
    x = residual_stage(b, x, net, stage, {.stride = stage > 0 ? 2 : 1});
  }
  return with_head(b, x, classes(spec, cifar ? 10 : 1000));
}

graph::Graph build_thin(Spec& spec) {
  const int layers = *std::find_if(kThin.begin(), kThin.end(),
                                   [&](int depth) { return spec.name() == thin_name(depth); });
  Builder b(spec.name());
  TensorId x = cifar_stem(b, spec, 16, 4);
  for (int stage = 0; stage < 3; ++stage) {
    const Scope scope(b, "layer" + std::to_string(stage + 1));
    for (int i = 0; i < (layers - 2) / 6; ++i) {
      const Scope inner(b, std::to_string(i));
      x = thin_block(b, x, std::int64_t{16} << stage, stage > 0 && i == 0 ? 2 : 1);
    }
  }
  return with_head(b, x, classes(spec, 10));
}

}  // namespace

std::vector<Entry> resnet_entries() {
  std::vector<Entry> entries = entries_of(kRows, "ResNet", "image=224, classes=1000", build_resnet);
  entries.reserve(kRows.size() + kCifarRows + kThin.size());
  const std::string cifar_parameters = "image=32, classes=10";
  for (std::size_t i = 0; i < kCifarRows; ++i) {
    const std::string name = kRows[i].name;
    entries.push_back({{name + kCifarEnding, "ResNet",
                        name + " with a 3x3 stem of stride 1 and no max pooling", cifar_parameters},
                       build_resnet});
  }
  for (const int layers : kThin) {
    entries.push_back({{thin_name(layers), "ResNet",
                        "residual network for CIFAR, " + std::to_string(layers) +
                            " layers of 16 to 64 channels, shortcuts without parameters",
                        cifar_parameters},
                       build_thin});
  }
  return entries;
}

}  // namespace foretrain::zoo
