// SPDX-License-Identifier: Apache-2.0
// U-Nets of images and volumes: nnU-Net (Isensee et al., Nature Methods 2021) as NVIDIA benchmarks
// it on brain tumours, without deep supervision, NVIDIA's UNet_3D_Medical, and V-Net (Milletari,
// Navab, Ahmadi, 3DV 2016) as NVIDIA trains it. Nets of TensorFlow keep its blocks' names.
#include <array>

#include "foretrain/base/error.h"
#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/vision/segmentation_layers.h"
#include "foretrain/zoo/vision/vision_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::Shape;
using graph::TensorId;

constexpr std::int64_t kLargestVolume = 1024;

// [batch, channels, depth, height, width], all sides `volume` long; a multiple of `step`.
TensorId volume_input(Builder& b, Spec& spec, std::int64_t usual, std::int64_t step,
                      std::int64_t planes) {
  const std::int64_t side = spec.take("volume", usual, step, kLargestVolume);
  if (side % step != 0) {
    throw Error(ErrorKind::BadInput, "model '" + spec.name() + "': volume=" + std::to_string(side) +
                                         " is not a multiple of " + std::to_string(step));
  }
  return b.input("images", {b.batch(), spec.take("channels", planes), side, side, side});
}

// Cross entropy and overlap of classes.
graph::Graph finish_segmenter(Builder& b, TensorId logits, bool entropy) {
  b.output(logits);
  const TensorId shares = b.add(Kind::Softmax, {logits}, {{Attr::Axis, {1}}});
  const TensorId dice = dice_loss(b, "dice", shares);
  if (!entropy) {
    b.loss(dice);
    return b.finish();
  }
  const Shape shape = b.shape(logits);
  Shape each{shape[0]};
  for (int axis = 2; axis < shape.rank(); ++axis) each.push_back(shape[axis]);
  const TensorId numbers = b.input("targets", each, DType::I64);
  b.loss(b.add(Kind::Add, {cross_entropy(b, "loss", logits, numbers), dice}));
  return b.finish();
}

// Two convolutions, the first of which may stride.
TensorId block(Builder& b, const std::string& name, TensorId x, std::int64_t width,
               std::int64_t stride) {
  const Scope scope(b, name);
  for (const std::string index : {"1", "2"}) {
    x = spatial_conv(b, "conv" + index + ".conv", x,
                     {.channels = width, .stride = index == "1" ? stride : 1});
    x = activate(b, "lrelu", Kind::LeakyRelu, instance_norm(b, "norm" + index, x));
  }
  return x;
}

// Halves the sides with every width but the first, and doubles them again.
TensorId dynamic_unet(Builder& b, TensorId x, const std::array<int, 6>& widths) {
  std::vector<TensorId> skips;
  for (std::size_t level = 0; level < widths.size(); ++level) {
    std::string name = "downsamples." + std::to_string(level - 1);
    if (level == 0) name = "input_block";
    if (level + 1 == widths.size()) name = "bottleneck";
    x = block(b, name, x, widths[level], level == 0 ? 1 : 2);
    skips.push_back(x);
  }
  for (std::size_t level = widths.size() - 1; level-- > 0;) {
    const Scope scope(b, "upsamples." + std::to_string(widths.size() - 2 - level));
    x = spatial_conv(
        b, "transp_conv.conv", x,
        {.channels = widths[level], .kernel = 2, .stride = 2, .bias = true, .transposed = true});
    x = block(b, "conv_block", concat(b, {x, skips[level]}), widths[level], 1);
  }
  return x;
}

constexpr std::array kVolumeWidths{32, 64, 128, 256, 320, 320};

graph::Graph build_nnunet_3d(Spec& spec) {
  Builder b(spec.name());
  TensorId x = volume_input(b, spec, 128, 32, 4);
  x = dynamic_unet(b, x, kVolumeWidths);
  const SpatialConv last{.channels = classes(spec, 4), .kernel = 1, .bias = true};
  return finish_segmenter(b, spatial_conv(b, "output_block.conv.conv", x, last), true);
}

graph::Graph build_nnunet_2d(Spec& spec) {
  Builder b(spec.name());
  const std::int64_t planes = spec.take("channels", 4);
  const std::int64_t height = spec.take("height", 192, 32, kLargestImage);
  const std::int64_t width = spec.take("width", 160, 32, kLargestImage);
  if (height % 32 != 0 || width % 32 != 0) {
    throw Error(ErrorKind::BadInput, "model 'nnunet_2d': height and width must be multiples of 32");
  }
  TensorId x = b.input("images", {b.batch(), planes, height, width});
  x = dynamic_unet(b, x, {32, 64, 128, 256, 512, 512});
  const SpatialConv last{.channels = classes(spec, 4), .kernel = 1, .bias = true};
  return finish_segmenter(b, spatial_conv(b, "output_block.conv.conv", x, last), true);
}

graph::Graph build_unet3d_medical(Spec& spec) {
  Builder b(spec.name());
  TensorId x = volume_input(b, spec, 128, 32, 4);
  x = dynamic_unet(b, x, kVolumeWidths);
  const SpatialConv last{.channels = classes(spec, 4), .bias = true};
  return finish_segmenter(b, spatial_conv(b, "output_layer", x, last), true);
}

TensorId vnet_unit(Builder& b, const std::string& name, TensorId x, SpatialConv layer) {
  const Scope scope(b, name);
  layer.bias = true;
  return relu(b, "relu", batch_norm(b, "norm", spatial_conv(b, "conv", x, layer)));
}

TensorId vnet_residual(Builder& b, TensorId x) {
  TensorId y = x;
  for (int i = 0; i < 3; ++i) {
    y = vnet_unit(b, "residual_block." + std::to_string(i), y, {.channels = channels(b, x)});
  }
  return b.add(Kind::Add, {y, x});
}

TensorId vnet_enlarged(Builder& b, TensorId x, std::int64_t width) {
  return vnet_unit(b, "upsample_layer", x,
                   {.channels = width, .kernel = 2, .stride = 2, .transposed = true});
}

graph::Graph build_vnet(Spec& spec) {
  Builder b(spec.name());
  const TensorId volume = volume_input(b, spec, 32, 8, 1);
  const std::int64_t count = classes(spec, 3);
  TensorId x = b.add(Kind::Add, {vnet_unit(b, "input_block", volume, {.channels = 16}), volume});
  std::vector<TensorId> skips{x};
  for (int level = 0; level < 3; ++level) {
    const Scope scope(b, "downsample_block." + std::to_string(level));
    x = vnet_unit(b, "downsample_layer", x,
                  {.channels = 2 * channels(b, x), .kernel = 2, .stride = 2});
    x = vnet_residual(b, x);
    skips.push_back(x);
  }
  for (std::size_t level = 2; level > 0; --level) {
    const Scope scope(b, "upsample_block." + std::to_string(2 - level));
    x = vnet_enlarged(b, x, channels(b, skips[level]));
    x = vnet_residual(b, concat(b, {x, skips[level]}));
  }
  b.enter("output_block");
  x = vnet_enlarged(b, x, channels(b, skips[0]));
  x = spatial_conv(b, "conv", x, {.channels = count, .bias = true});
  b.leave();
  return finish_segmenter(b, x, false);
}

}  // namespace

std::vector<Entry> volume_unet_entries() {
  return {
      {{"nnunet_2d", "Segmentation", "nnU-Net of images, as NVIDIA benchmarks it",
        "height=192, width=160, channels=4, classes=4"},
       build_nnunet_2d},
      {{"nnunet_3d", "Segmentation", "nnU-Net of volumes, as NVIDIA benchmarks it",
        "volume=128, channels=4, classes=4"},
       build_nnunet_3d},
      {{"unet3d_medical", "Segmentation", "U-Net of volumes, as NVIDIA trains it in TensorFlow",
        "volume=128, channels=4, classes=4"},
       build_unet3d_medical},
      {{"vnet", "Segmentation", "V-Net, as NVIDIA trains it", "volume=32, channels=1, classes=3"},
       build_vnet}};
}

}  // namespace foretrain::zoo
