// SPDX-License-Identifier: Apache-2.0
// U-Net (Ronneberger, Fischer, Brox, MICCAI 2015): `unet` with batch norm and padded convolutions,
// as in github.com/milesial/Pytorch-UNet; `unet_medical` with the paper's unpadded ones and
// `unet_industrial`, a small one, as NVIDIA's UNet_Medical and UNet_Industrial have them.
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
using graph::TensorId;

constexpr int kLevels = 4;  // below the first
constexpr std::int64_t kFirst = 64;

std::int64_t width_of(int level) { return kFirst << level; }

TensorId image_input(Builder& b, Spec& spec, std::int64_t usual, std::int64_t least,
                     std::int64_t planes) {
  const std::int64_t image = spec.take("image", usual, least, kLargestImage);
  return b.input("images", {b.batch(), spec.take("channels", planes), image, image});
}

TensorId double_conv(Builder& b, const std::string& name, TensorId x, std::int64_t width) {
  const Scope scope(b, name + ".double_conv");
  x = conv_norm_relu(b, 0, x, padded_conv(width, 3));
  return conv_norm_relu(b, 3, x, padded_conv(width, 3));
}

// Filled up with zeros to the size of `like`.
TensorId padded(Builder& b, TensorId x, TensorId like) {
  const Pair from = image_size(b, x);
  const Pair to = image_size(b, like);
  const std::int64_t rows = to.height - from.height;
  const std::int64_t columns = to.width - from.width;
  if (rows == 0 && columns == 0) return x;
  return b.add(Kind::Pad, {x},
               {{Attr::Padding,
                 {0, 0, rows / 2, columns / 2, 0, 0, rows - rows / 2, columns - columns / 2}}});
}

// One class: binary cross entropy; several: over the classes. Plus the loss of overlaps.
void finish_losses(Builder& b, TensorId logits) {
  b.output(logits);
  if (channels(b, logits) == 1) {
    const TensorId wanted = b.input("targets", b.shape(logits));
    const TensorId entropy = b.add(Kind::PointwiseLoss, {logits, wanted});
    b.loss(b.add(Kind::Add, {entropy, dice_loss(b, "dice", b.add(Kind::Sigmoid, {logits}))}));
    return;
  }
  const TensorId entropy =
      cross_entropy(b, "loss", logits, pixel_targets(b, image_size(b, logits)));
  const TensorId shares = b.add(Kind::Softmax, {logits}, {{Attr::Axis, {1}}});
  b.loss(b.add(Kind::Add, {entropy, dice_loss(b, "dice", shares)}));
}

graph::Graph build_unet(Spec& spec) {
  Builder b(spec.name());
  TensorId x = image_input(b, spec, 512, 16, 3);
  const std::int64_t count = classes(spec, 1);
  std::vector<TensorId> skips;
  x = double_conv(b, "inc", x, kFirst);
  for (int level = 1; level <= kLevels; ++level) {
    skips.push_back(x);
    const Scope scope(b, "down" + std::to_string(level));
    x = double_conv(b, "maxpool_conv.1", max_pool(b, "maxpool_conv.0", x, {}), width_of(level));
  }
  for (int level = kLevels - 1; level >= 0; --level) {
    const Scope scope(b, "up" + std::to_string(kLevels - level));
    const TensorId skip = skips[static_cast<std::size_t>(level)];
    x = padded(b, enlarging_conv(b, "up", x, width_of(level), 2), skip);
    x = double_conv(b, "conv", concat(b, {skip, x}), width_of(level));
  }
  x = conv(b, "outc.conv", x, {.channels = count, .bias = true});
  finish_losses(b, x);
  return b.finish();
}

TensorId unpadded(Builder& b, const std::string& name, TensorId x, std::int64_t width) {
  for (const char* ending : {"conv1", "conv2"}) {
    x = relu(b, "",
             conv(b, name + "." + ending, x, {.channels = width, .kernel = 3, .bias = true}));
  }
  return x;
}

TensorId enlarged(Builder& b, const std::string& name, TensorId x) {
  return relu(b, "",
              spatial_conv(
                  b, name + ".conv_transpose", x,
                  {.channels = channels(b, x) / 2, .stride = 2, .bias = true, .transposed = true}));
}

graph::Graph build_unet_medical(Spec& spec) {
  Builder b(spec.name());
  TensorId x = image_input(b, spec, 572, 188, 1);
  const std::int64_t count = classes(spec, 2);
  std::vector<TensorId> skips;
  for (int level = 0; level < kLevels; ++level) {
    const std::string name =
        level == 0 ? "input_block" : "down_blocks." + std::to_string(level - 1);
    x = unpadded(b, name, x, width_of(level));
    skips.push_back(x);
    x = max_pool(b, name + ".maxpool", x, {});
  }
  x = dropout(b, "bottleneck.dropout", unpadded(b, "bottleneck", x, width_of(kLevels)));
  x = enlarged(b, "bottleneck", x);
  for (int level = kLevels - 1; level >= 0; --level) {
    const TensorId skip = skips[static_cast<std::size_t>(level)];
    x = concat(b, {x, central_crop(b, skip, image_size(b, x))});
    const std::string name =
        level == 0 ? "output_block" : "up_blocks." + std::to_string(kLevels - 1 - level);
    x = unpadded(b, name, x, width_of(level));
    if (level > 0) x = enlarged(b, name, x);
  }
  x = conv(b, "output_block.conv3", x, {.channels = count, .bias = true});
  finish_losses(b, x);
  return b.finish();
}

TensorId biased_relu(Builder& b, const std::string& name, TensorId x, const Conv& layer) {
  return relu(b, "", conv(b, name, x, biased(layer)));
}

TensorId two_convs(Builder& b, const std::string& name, TensorId x, std::int64_t first,
                   std::int64_t second) {
  x = biased_relu(b, name + ".conv2d", x, padded_conv(first, 3));
  return biased_relu(b, name + ".conv2d_1", x, padded_conv(second, 3));
}

// Twice as large by copying pixels, then a convolution of 2x2, which sees a row and a column of
// zeros.
TensorId upscaled(Builder& b, const std::string& name, TensorId x, std::int64_t width) {
  x = resize(b, x, 2 * image_size(b, x).height);
  x = b.add(Kind::Pad, {x}, {{Attr::Padding, {0, 0, 0, 0, 0, 0, 1, 1}}});
  return biased_relu(b, name + ".deconv2d", x, {.channels = width, .kernel = 2});
}

graph::Graph build_unet_industrial(Spec& spec) {
  constexpr std::array kWidths{32, 32, 64, 128};
  Builder b(spec.name());
  TensorId x = image_input(b, spec, 512, 16, 1);
  const std::int64_t count = classes(spec, 1);
  if (b.shape(x)[2].factor % 16 != 0) {
    throw Error(ErrorKind::BadInput, "model 'unet_industrial': image must be a multiple of 16");
  }
  std::vector<TensorId> skips;
  for (std::size_t i = 0; i < kWidths.size(); ++i) {
    const std::string name = i == 0 ? "input_block" : "downsample_block_" + std::to_string(i);
    x = two_convs(b, name, x, kWidths[i], kWidths[i]);
    skips.push_back(x);
    x = max_pool(b, name + ".max_pooling2d", x, {});
  }
  x = upscaled(b, "bottleneck_block", two_convs(b, "bottleneck_block", x, 256, 256), 128);
  for (std::size_t i = kWidths.size(); i-- > 1;) {
    const std::string name = "upsample_block_" + std::to_string(kWidths.size() - i);
    x = two_convs(b, name, concat(b, {x, skips[i]}), kWidths[i], kWidths[i] / 2);
    x = upscaled(b, name, x, kWidths[i] / 2);
  }
  x = two_convs(b, "outputs_block", concat(b, {x, skips[0]}), 32, 32);
  x = conv(b, "outputs_block.conv2d_2", x, {.channels = count, .bias = true});
  finish_losses(b, x);
  return b.finish();
}

}  // namespace

std::vector<Entry> unet_entries() {
  return {{{"unet", "Segmentation", "U-Net with batch norm and padded convolutions",
            "image=512, channels=3, classes=1"},
           build_unet},
          {{"unet_medical", "Segmentation", "the paper's U-Net, as NVIDIA trains it",
            "image=572, channels=1, classes=2"},
           build_unet_medical},
          {{"unet_industrial", "Segmentation", "a small U-Net, as NVIDIA trains it",
            "image=512, channels=1, classes=1"},
           build_unet_industrial}};
}

}  // namespace foretrain::zoo
