// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <span>

#include "foretrain/base/error.h"
#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

using graph::Graph;
using graph::Shape;

// torchvision's `num_params`; milesial's U-Net for three channels and one class. What
// MMSegmentation prints for 19 classes: 49.50M, 48.98M, 68.11M and 43.59M.
constexpr Published kPublished[] = {
    {"fcn_resnet50", 35'322'218},
    {"fcn_resnet101", 54'314'346},
    {"deeplabv3_resnet50", 42'004'074},
    {"deeplabv3_resnet101", 60'996'202},
    {"unet", 31'037'633},
    {"fcn_r50-d8", 49'497'734},
    {"pspnet_r50-d8", 48'975'494},
    {"deeplabv3_r50-d8", 68'113'030},
    {"deeplabv3plus_r50-d8", 43'589'878},
    // A stem of 9'536 for one of 28'768; three convolutions 512 to 256 with bias, one back with a
    // norm; a mask of 513, 512 to 128 and back with bias, a norm of 256.
    {"fcn_r50b-d8", 49'497'734 - 19'232},
    {"nonlocal_r50-d8", 49'497'734 + 3 * 131'328 + 131'072 + 1'024},
    {"gcnet_r50-d8", 49'497'734 + 513 + 65'664 + 256 + 66'048},
    // Backbone and auxiliary head of 23'527'264 and 2'364'691, classes of 9'747. ISANet: a 3 x 3
    // convolution from 2048 channels, one of 1024 to 512; twice 131'584 + 66'048 for each of query
    // and key, 262'656 for the value, 263'168 behind. UPerNet: laterals from 256, 512 and 1024
    // channels, four times 2048 to 512, five 3 x 3 convolutions: from 4096, three of 512, from
    // 2048.
    {"isanet_r50-d8", 25'901'702 + 9'438'208 + 525'312 + 2 * (2 * 197'632 + 262'656 + 263'168)},
    {"upernet_r50",
     25'901'702 + 1792 * 512 + 4 * 2048 * 512 + 9 * 512 * (4096 + 3 * 512 + 2048) + 12 * 1024},
};

// Channels in and out, the kernel's values.
struct Layer {
  std::int64_t in;
  std::int64_t out;
  std::int64_t kernel;
};

// Of convolutions with bias.
std::int64_t parameters(std::span<const Layer> layers) {
  std::int64_t sum = 0;
  for (const Layer& layer : layers) sum += layer.in * layer.out * layer.kernel + layer.out;
  return sum;
}

TEST(Segmenters, HaveThePublishedParameters) { expect_parameters(kPublished); }

// torchvision's `_ops`, with the auxiliary classifier: 1024 * 256 * 9 + 256 * 21 multiply-adds for
// each of 65 * 65 pixels.
TEST(Segmenters, HaveThePublishedWork) {
  EXPECT_NEAR(forward_gmac("fcn_resnet50"), 152.717, 0.0006);
  EXPECT_NEAR(forward_gmac("fcn_resnet50:aux=0"), 152.717 - 2'364'672.0 * 4225 / 1e9, 0.0006);
  EXPECT_NEAR(forward_gmac("fcn_resnet101"), 232.738, 0.0006);
  EXPECT_NEAR(forward_gmac("deeplabv3_resnet50"), 178.722, 0.0006);
  EXPECT_NEAR(forward_gmac("deeplabv3_resnet101"), 258.743, 0.0006);
}

// HRNet's authors: 3.9M and 65.8M parameters, 71.6 and 696.2 times 2^30 multiply-adds for an image
// of 1024 x 2048.
TEST(Segmenters, HighResolutionNetsHaveThePublishedParametersAndWork) {
  const double giga = 1024.0 * 1024 * 1024;
  const Graph small = build("fcn_hrnet_w18_small:height=1024,width=2048");
  EXPECT_NEAR(static_cast<double>(graph::parameter_count(small)) / 1e6, 3.9, 0.05);
  EXPECT_NEAR(gemm_flops(small, 1) / 2 / giga, 71.6, 0.05);
  const Graph wide = build("fcn_hrnet_w48:height=1024,width=2048");
  EXPECT_NEAR(static_cast<double>(graph::parameter_count(wide)) / 1e6, 65.8, 0.1);
  EXPECT_NEAR(gemm_flops(wide, 1) / 2 / giga, 696.2, 0.05);
}

// The paper's U-Net of one channel and two classes, enlarged by windows of 3x3.
TEST(Segmenters, MedicalUNetHasTheParametersOfItsLayers) {
  constexpr Layer kLayers[] = {
      {1, 64, 9},     {64, 64, 9},   {64, 128, 9},  {128, 128, 9},  {128, 256, 9},
      {256, 256, 9},  {256, 512, 9}, {512, 512, 9}, {512, 1024, 9}, {1024, 1024, 9},
      {1024, 512, 9}, {512, 256, 9}, {256, 128, 9}, {128, 64, 9},  // the enlarging ones
      {1024, 512, 9}, {512, 512, 9}, {512, 256, 9}, {256, 256, 9},  {256, 128, 9},
      {128, 128, 9},  {128, 64, 9},  {64, 64, 9},   {64, 2, 1},
  };
  EXPECT_EQ(graph::parameter_count(build("unet_medical")), parameters(kLayers));
}

// From 572 x 572 pixels to 388 x 388, as in the paper's figure 1.
TEST(Segmenters, MedicalUNetLosesItsRim) {
  const Graph graph = build("unet_medical");
  EXPECT_EQ(graph.tensor(graph.outputs[0]).shape, (Shape{graph::symbol(0), 2, 388, 388}));
}

TEST(Segmenters, IndustrialUNetHasTheParametersOfItsLayers) {
  constexpr Layer kLayers[] = {
      {1, 32, 9},   {32, 32, 9},   {32, 32, 9},   {32, 32, 9},   {32, 64, 9},   {64, 64, 9},
      {64, 128, 9}, {128, 128, 9}, {128, 256, 9}, {256, 256, 9}, {256, 128, 4}, {256, 128, 9},
      {128, 64, 9}, {64, 64, 4},   {128, 64, 9},  {64, 32, 9},   {32, 32, 4},   {64, 32, 9},
      {32, 16, 9},  {16, 16, 4},   {48, 32, 9},   {32, 32, 9},   {32, 1, 1},
  };
  EXPECT_EQ(graph::parameter_count(build("unet_industrial")), parameters(kLayers));
}

// Without biases but those of the enlarging convolutions and the last; two more per channel and
// norm than the weights.
TEST(Segmenters, VolumeUNetsHaveTheParametersOfTheirLayers) {
  const auto by_hand = [](std::span<const std::int64_t> widths, std::int64_t kernel,
                          std::int64_t enlarging) {
    std::int64_t sum = 0;
    std::int64_t in = 4;
    const auto block = [&](std::int64_t from, std::int64_t to) {
      sum += kernel * to * (from + to) + 4 * to;
    };
    for (const std::int64_t width : widths) {
      block(in, width);
      in = width;
    }
    for (std::size_t i = widths.size() - 1; i-- > 0;) {
      sum += enlarging * in * widths[i] + widths[i];
      block(2 * widths[i], widths[i]);
      in = widths[i];
    }
    return sum;
  };
  constexpr std::int64_t kFlat[] = {32, 64, 128, 256, 512, 512};
  constexpr std::int64_t kDeep[] = {32, 64, 128, 256, 320, 320};
  EXPECT_EQ(graph::parameter_count(build("nnunet_2d")), by_hand(kFlat, 9, 4) + 33 * 4);
  EXPECT_EQ(graph::parameter_count(build("nnunet_3d")), by_hand(kDeep, 27, 8) + 33 * 4);
  EXPECT_EQ(graph::parameter_count(build("unet3d_medical")),
            by_hand(kDeep, 27, 8) + (27 * 32 + 1) * 4);
}

// Biases, and norms of two values per channel: three beside the weights. Residual blocks of 32, 64,
// 128, then of 128 and 64 channels: the enlarged and as many skipped ones.
TEST(Segmenters, VNetHasTheParametersOfItsLayers) {
  std::int64_t sum = 27 * 16 + 3 * 16;
  const auto add = [&](std::int64_t in, std::int64_t out, std::int64_t kernel) {
    sum += kernel * in * out + 3 * out;
  };
  for (const std::int64_t width : {32, 64, 128}) {
    add(width / 2, width, 8);
    for (int i = 0; i < 3; ++i) add(width, width, 27);
  }
  add(128, 64, 8);
  for (int i = 0; i < 3; ++i) add(128, 128, 27);
  add(128, 32, 8);
  for (int i = 0; i < 3; ++i) add(64, 64, 27);
  add(64, 16, 8);
  EXPECT_EQ(graph::parameter_count(build("vnet")), sum + 27 * 16 * 3 + 3);
}

TEST(Segmenters, GiveEveryPixelItsLogits) {
  const auto logits_of = [](const char* model) {
    const Graph graph = build(model);
    return to_string(graph.tensor(graph.outputs[0]).shape, graph.symbols);
  };
  EXPECT_EQ(logits_of("fcn_resnet50"), "[batch, 21, 520, 520]");
  EXPECT_EQ(logits_of("deeplabv3_resnet50:height=512,width=1024"), "[batch, 21, 512, 1024]");
  EXPECT_EQ(logits_of("pspnet_r101-d8:classes=150,image=512"), "[batch, 150, 512, 512]");
  EXPECT_EQ(logits_of("deeplabv3plus_r18-d8"), "[batch, 19, 512, 1024]");
  EXPECT_EQ(logits_of("fcn_hrnet_w18"), "[batch, 19, 512, 1024]");
  EXPECT_EQ(logits_of("unet:image=573"), "[batch, 1, 573, 573]");
  EXPECT_EQ(logits_of("unet_industrial"), "[batch, 1, 512, 512]");
  EXPECT_EQ(logits_of("nnunet_2d"), "[batch, 4, 192, 160]");
  EXPECT_EQ(logits_of("nnunet_3d"), "[batch, 4, 128, 128, 128]");
  EXPECT_EQ(logits_of("vnet"), "[batch, 3, 32, 32, 32]");
}

TEST(Segmenters, NameParametersAsTheirSourcesDo) {
  EXPECT_TRUE(has_tensor(build("unet"), "down4.maxpool_conv.1.double_conv.3.weight"));
  EXPECT_TRUE(has_tensor(build("unet"), "up1.up.weight"));
  EXPECT_TRUE(has_tensor(build("fcn_resnet50"), "aux_classifier.4.bias"));
  EXPECT_TRUE(has_tensor(build("deeplabv3_resnet50"), "classifier.0.convs.4.1.weight"));
  EXPECT_TRUE(has_tensor(build("deeplabv3_resnet50"), "backbone.layer4.2.conv3.weight"));
  EXPECT_TRUE(has_tensor(build("pspnet_r50-d8"), "decode_head.psp_modules.3.1.conv.weight"));
  EXPECT_TRUE(has_tensor(build("deeplabv3plus_r50-d8"),
                         "decode_head.aspp_modules.3.depthwise_conv.conv.weight"));
  EXPECT_TRUE(has_tensor(build("fcn_r50-d8"), "backbone.stem.6.weight"));
  EXPECT_TRUE(has_tensor(build("nnunet_3d"), "upsamples.4.transp_conv.conv.weight"));
}

TEST(Segmenters, RefuseWhatDoesNotFit) {
  EXPECT_THROW(build("unet_medical:image=187"), Error);
  EXPECT_NO_THROW(build("unet_medical:image=188"));
  EXPECT_THROW(build("unet_industrial:image=500"), Error);
  EXPECT_THROW(build("nnunet_3d:volume=100"), Error);
  EXPECT_THROW(build("nnunet_2d:height=190"), Error);
  EXPECT_THROW(build("vnet:image=32"), Error);
  EXPECT_THROW(build("fcn_resnet50:aux=2"), Error);
}

TEST(Segmenters, ReadNothingThatWasOverwritten) {
  for (const char* model :
       {"fcn_resnet50", "deeplabv3_resnet50", "deeplabv3plus_r18-d8", "fcn_hrnet_w18", "unet",
        "unet_medical", "unet_industrial", "nnunet_3d", "vnet"}) {
    expect_no_use_of_overwritten(model);
  }
}

}  // namespace
}  // namespace foretrain::zoo
