// SPDX-License-Identifier: Apache-2.0
// FCN, PSPNet, DeepLab v3 and v3+ (Chen et al., ECCV 2018), NonLocalNet, GCNet and ISANet on
// residual networks of output stride 8 ("R-50-D8"), UPerNet on undilated ones, as MMSegmentation
// configures them: a stem of three convolutions (of one in "R-50b-D8"), heads of 512 channels (128
// on ResNet-18), an auxiliary head.
#include <array>

#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/vision/mmseg_heads.h"
#include "foretrain/zoo/vision/residual.h"
#include "foretrain/zoo/vision/segmentation_layers.h"
#include "foretrain/zoo/vision/vision_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Scope;
using graph::TensorId;

constexpr std::array kDilations{1, 12, 24, 36};

Conv wide(std::int64_t channels, std::int64_t dilation, std::int64_t groups = 1) {
  return {.channels = channels,
          .kernel = 3,
          .padding = dilation,
          .groups = groups,
          .dilation = dilation};
}

// A convolution of each channel, then one across channels.
TensorId separable(Builder& b, const std::string& name, TensorId x, std::int64_t out,
                   std::int64_t dilation = 1) {
  const Scope scope(b, name);
  const std::int64_t in = channels(b, x);
  return conv_module(b, "pointwise_conv",
                     conv_module(b, "depthwise_conv", x, wide(in, dilation, in)),
                     {.channels = out});
}

TensorId deep_stem(Builder& b, TensorId x) {
  constexpr std::array kWidths{32, 32, 64};
  {
    const Scope scope(b, "stem");
    for (int i = 0; i < 3; ++i) {
      const std::int64_t width = kWidths[static_cast<std::size_t>(i)];
      x = conv_norm_relu(b, 3 * i, x, padded_conv(width, 3, i == 0 ? 2 : 1));
    }
  }
  return max_pool(b, "maxpool", x, {.kernel = 3, .stride = 2, .padding = 1});
}

using Block = TensorId (*)(Builder&, TensorId);

// `block` stands behind the first convolution.
TensorId fcn_head(Builder& b, TensorId x, std::int64_t width, std::int64_t count, int layers,
                  Block block = nullptr) {
  TensorId y = x;
  for (int i = 0; i < layers; ++i) {
    y = conv_module(b, "convs." + std::to_string(i), y, padded_conv(width, 3));
    if (i == 0 && block != nullptr) y = block(b, y);
  }
  if (layers > 1) y = conv_module(b, "conv_cat", concat(b, {x, y}), padded_conv(width, 3));
  return pixel_classes(b, y, count);
}

// Atrous spatial pyramid pooling.
TensorId spatial_pyramid(Builder& b, TensorId x, std::int64_t width, bool separated) {
  const TensorId mean = adaptive_avg_pool(b, "image_pool.0", x, 1);
  std::vector<TensorId> parts{
      resize(b, conv_module(b, "image_pool.1", mean, {.channels = width}), image_size(b, x))};
  for (std::size_t i = 0; i < kDilations.size(); ++i) {
    const std::string name = "aspp_modules." + std::to_string(i);
    const std::int64_t dilation = kDilations[i];
    if (i == 0) {
      parts.push_back(conv_module(b, name, x, {.channels = width}));
    } else {
      parts.push_back(separated ? separable(b, name, x, width, dilation)
                                : conv_module(b, name, x, wide(width, dilation)));
    }
  }
  return conv_module(b, "bottleneck", concat(b, parts), padded_conv(width, 3));
}

// Beside the first stage's features, at their size.
TensorId plus_head(Builder& b, TensorId x, TensorId first, std::int64_t width, std::int64_t count) {
  x = spatial_pyramid(b, x, width, true);
  const TensorId fine =
      conv_module(b, "c1_bottleneck", first, {.channels = width == 512 ? 48 : 12});
  x = concat(b, {resize(b, x, image_size(b, fine)), fine});
  x = separable(b, "sep_bottleneck.1", separable(b, "sep_bottleneck.0", x, width), width);
  return pixel_classes(b, x, count);
}

TensorId decode(Builder& b, const std::string& head, const std::vector<TensorId>& stages,
                std::int64_t width, std::int64_t count) {
  const Scope scope(b, "decode_head");
  if (head == "fcn") return fcn_head(b, stages[3], width, count, 2);
  if (head == "nonlocal") return fcn_head(b, stages[3], width, count, 2, non_local);
  if (head == "gcnet") return fcn_head(b, stages[3], width, count, 2, global_context);
  if (head == "pspnet") return pixel_classes(b, pyramid_pooling(b, stages[3], width), count);
  if (head == "isanet") return pixel_classes(b, interlaced_attention(b, stages[3], width), count);
  if (head == "upernet") return pixel_classes(b, unified_stages(b, stages, width), count);
  if (head == "deeplabv3plus") return plus_head(b, stages[3], stages[0], width, count);
  return pixel_classes(b, spatial_pyramid(b, stages[3], width, false), count);
}

// "pspnet_r50-d8", "pspnet_r50b-d8", "upernet_r50".
graph::Graph build_mmseg(Spec& spec) {
  const std::size_t split = spec.name().find("_r");
  const std::string head = spec.name().substr(0, split);
  std::string depth = spec.name().substr(split + 2, spec.name().find('-') - split - 2);
  const bool plain = depth.back() == 'b';
  if (plain) depth.pop_back();
  Builder b(spec.name());
  const TensorId x = pictures(b, spec, {512, 1024}, 64);
  const Pair image = image_size(b, x);
  const std::int64_t count = classes(spec, 19);
  b.enter("backbone");
  const int stride = head == "upernet" ? 32 : 8;
  const TensorId stem = plain ? residual_stem(b, x) : deep_stem(b, x);
  const std::vector<TensorId> stages =
      residual_features(b, stem, residual_named("resnet" + depth), stride);
  b.leave();
  const std::int64_t width = depth == "18" ? 128 : 512;
  const TensorId logits = decode(b, head, stages, width, count);
  const TensorId numbers = pixel_targets(b, image);
  const PixelLoss main = pixel_loss(b, "loss", logits, image, numbers);
  b.output(main.logits);
  b.enter("auxiliary_head");
  const TensorId aux = fcn_head(b, stages[2], width / 2, count, 1);
  b.leave();
  weigh_losses(b, main.loss, pixel_loss(b, "aux_loss", aux, image, numbers).loss);
  return b.finish();
}

}  // namespace

std::vector<Entry> mmsegmentation_entries() {
  struct Row {
    const char* name;
    const char* about;
    std::vector<const char*> depths;
    bool strided = false;
  };
  const std::vector<const char*> usual{"18", "50", "101", "18b", "50b", "101b"};
  const Row rows[] = {{"fcn", "FCN", usual},
                      {"pspnet", "PSPNet", usual},
                      {"deeplabv3", "DeepLab v3", usual},
                      {"deeplabv3plus", "DeepLab v3+", usual},
                      {"nonlocal", "NonLocalNet", {"50", "101"}},
                      {"gcnet", "GCNet", {"50", "101"}},
                      {"isanet", "ISANet", {"50", "101"}},
                      {"upernet", "UPerNet", {"50", "101"}, true}};
  std::vector<Entry> entries;
  for (const Row& row : rows) {
    for (const std::string depth : row.depths) {
      entries.push_back(
          {{std::string(row.name) + "_r" + depth + (row.strided ? "" : "-d8"), "Segmentation",
            std::string(row.about) + " on ResNet-" + depth +
                (row.strided ? "" : " of output stride 8") + ", as MMSegmentation configures it",
            "height=512, width=1024, image, classes=19"},
           build_mmseg});
    }
  }
  return entries;
}

}  // namespace foretrain::zoo
