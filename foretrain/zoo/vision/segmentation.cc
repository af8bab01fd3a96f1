// SPDX-License-Identifier: Apache-2.0
// FCN (Long, Shelhamer, Darrell, CVPR 2015) and DeepLab v3 (Chen et al., 2017) on dilated residual
// networks, as in torchvision, with the auxiliary classifier that takes part in training only.
#include <array>

#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/vision/residual.h"
#include "foretrain/zoo/vision/segmentation_layers.h"
#include "foretrain/zoo/vision/vision_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Scope;
using graph::TensorId;

constexpr std::int64_t kPyramid = 256;  // channels of DeepLab's head

TensorId fcn_head(Builder& b, const std::string& name, TensorId x, std::int64_t count) {
  const Scope scope(b, name);
  x = conv_norm_relu(b, 0, x, padded_conv(channels(b, x) / 4, 3));
  return conv(b, "4", dropout(b, "3", x), {.channels = count, .bias = true});
}

// The image's mean, everywhere.
TensorId pooled(Builder& b, TensorId x) {
  const Scope scope(b, "convs.4");
  TensorId mean = adaptive_avg_pool(b, "0", x, 1);
  mean = conv_norm_relu(b, 1, mean, {.channels = kPyramid});
  return resize(b, mean, image_size(b, x));
}

// Atrous spatial pyramid pooling.
TensorId spatial_pyramid(Builder& b, TensorId x) {
  const Scope scope(b, "0");
  std::vector<TensorId> parts;
  constexpr std::array kDilations{1, 12, 24, 36};
  for (std::size_t i = 0; i < kDilations.size(); ++i) {
    const Scope inner(b, "convs." + std::to_string(i));
    const std::int64_t dilation = kDilations[i];
    const Conv wide{.channels = kPyramid, .kernel = 3, .padding = dilation, .dilation = dilation};
    parts.push_back(conv_norm_relu(b, 0, x, i == 0 ? Conv{.channels = kPyramid} : wide));
  }
  parts.push_back(pooled(b, x));
  const Scope inner(b, "project");
  return dropout(b, "3", conv_norm_relu(b, 0, concat(b, parts), {.channels = kPyramid}));
}

TensorId deeplab_head(Builder& b, TensorId x, std::int64_t count) {
  const Scope scope(b, "classifier");
  x = conv_norm_relu(b, 1, spatial_pyramid(b, x), padded_conv(kPyramid, 3));
  return conv(b, "4", x, {.channels = count, .bias = true});
}

graph::Graph build_segmenter(Spec& spec) {
  const bool deeplab = spec.name().starts_with("deeplabv3");
  const bool with_aux = spec.take("aux", 1, 0, 1) != 0;
  Builder b(spec.name());
  const TensorId x = pictures(b, spec, 520, 32);
  const Pair image = image_size(b, x);
  const std::int64_t count = classes(spec, 21);
  const std::string network = spec.name().substr(spec.name().find("resnet"));
  b.enter("backbone");
  const std::vector<TensorId> stages =
      residual_features(b, residual_stem(b, x), residual_named(network), 8);
  b.leave();
  const TensorId logits =
      deeplab ? deeplab_head(b, stages[3], count) : fcn_head(b, "classifier", stages[3], count);
  const TensorId numbers = pixel_targets(b, image);
  const PixelLoss main = pixel_loss(b, "loss", logits, image, numbers);
  b.output(main.logits);
  b.loss(main.loss);
  if (with_aux) {
    // Counts half, as torchvision trains it (references/segmentation).
    const TensorId aux = fcn_head(b, "aux_classifier", stages[2], count);
    weigh_losses(b, main.loss, pixel_loss(b, "aux_loss", aux, image, numbers).loss);
  }
  return b.finish();
}

}  // namespace

std::vector<Entry> segmentation_entries() {
  std::vector<Entry> entries;
  for (const std::string network : {"resnet50", "resnet101"}) {
    const std::string parameters = "image=520, height, width, classes=21, aux=1";
    entries.push_back(
        {{"fcn_" + network, "Segmentation", "FCN on a dilated " + network, parameters},
         build_segmenter});
    entries.push_back(
        {{"deeplabv3_" + network, "Segmentation", "DeepLab v3 on a dilated " + network, parameters},
         build_segmenter});
  }
  return entries;
}

}  // namespace foretrain::zoo
