// SPDX-License-Identifier: Apache-2.0
// Image classifiers with squeezes, residual groups or attention against what is published.
#include <gtest/gtest.h>

#include <string>

#include "foretrain/base/error.h"
#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

using graph::Graph;
using graph::Kind;

// `num_params` and `_ops` of the weights in torchvision 0.15, at the image size of those weights.
// The first three are timm's, which counts norms among the multiply-adds: hence a percent.
constexpr Published kPublished[] = {
    {"resnext101_32x4d", 44'177'704, 8.01, 0.08},
    {"se_resnext101_32x4d", 48'955'416, 8.02, 0.08},
    {"inception_v4", 42'679'816, 12.28, 0.12},
    {"resnext101_64x4d", 83'455'272, 15.46},
    {"googlenet:aux=0", 6'624'904, 1.498},
    {"mobilenet_v3_small", 2'542'856, 0.057},
    {"mobilenet_v3_large", 5'483'032, 0.217},
    {"efficientnet_b0", 5'288'548, 0.386},
    {"efficientnet_b1", 7'794'184, 0.687},
    {"efficientnet_b2", 9'109'994, 1.088},
    {"efficientnet_b3", 12'233'232, 1.827},
    {"efficientnet_b4", 19'341'616, 4.394},
    {"efficientnet_b5", 30'389'784, 10.266},
    {"efficientnet_b6", 43'040'704, 19.068},
    {"efficientnet_b7", 66'347'960, 37.746},
    {"efficientnet_v2_s", 21'458'488, 8.366},
    {"efficientnet_v2_m", 54'139'356, 24.582},
    {"efficientnet_v2_l", 118'515'272, 56.08},
    {"regnet_y_400mf", 4'344'144, 0.402},
    {"regnet_y_800mf", 6'432'512, 0.834},
    {"regnet_y_1_6gf", 11'202'430, 1.612},
    {"regnet_y_3_2gf", 19'436'338, 3.176},
    {"regnet_y_8gf", 39'381'472, 8.473},
    {"regnet_y_16gf", 83'590'140, 15.912},
    {"regnet_y_32gf", 145'046'770, 32.28},
    {"regnet_y_128gf:image=384", 644'812'894, 374.57},
    {"regnet_x_400mf", 5'495'976, 0.414},
    {"regnet_x_800mf", 7'259'656, 0.8},
    {"regnet_x_1_6gf", 9'190'136, 1.603},
    {"regnet_x_3_2gf", 15'296'552, 3.177},
    {"regnet_x_8gf", 39'572'648, 7.995},
    {"regnet_x_16gf", 54'278'536, 15.941},
    {"regnet_x_32gf", 107'811'560, 31.736},
    {"convnext_tiny", 28'589'128, 4.456},
    {"convnext_small", 50'223'688, 8.684},
    {"convnext_base", 88'591'464, 15.355},
    {"convnext_large", 197'767'336, 34.361},
    {"vit_b_16", 86'567'656, 17.564},
    {"vit_b_32", 88'224'232, 4.409},
    {"vit_l_16", 304'326'632, 61.555},
    {"vit_l_32", 306'535'400, 15.378},
    {"vit_h_14", 632'045'800, 167.295},
    {"swin_t", 28'288'354, 4.491},
    {"swin_s", 49'606'258, 8.741},
    {"swin_b", 87'768'224, 15.431},
    {"swin_v2_t", 28'351'570, 5.94},
    {"swin_v2_s", 49'737'442, 11.546},
    {"swin_v2_b", 87'930'848, 20.325},
};

TEST(VisionModels, HaveThePublishedParameters) { expect_parameters(kPublished); }

TEST(VisionModels, HaveThePublishedWork) { expect_work(kPublished); }

TEST(VisionModels, GiveOneLogitPerClass) { expect_one_logit_per_class(kPublished, 1000); }

// The two auxiliary classifiers: 128 * (512 + 528) + 2 * 256 in the convolutions and norms,
// 2 * (2048 * 1024 + 1024 + 1025 * 1000) in the layers after them: 6,379,984.
TEST(VisionModels, GoogLeNetTrainsItsAuxiliaryClassifiers) {
  const Graph graph = build("googlenet");
  EXPECT_EQ(graph::parameter_count(graph), 13'004'888);
  EXPECT_EQ(count(graph, Kind::CrossEntropy), 3);
}

// Squeezing c expanded channels to c/4 in place of n/4, n the block's input, adds
// (2c + 1) (c - n) / 4 parameters to a block; none to the first, where c = n = 32. Blocks of the
// same n and c follow one another, since a stage's first block has the stage before's channels.
TEST(VisionModels, WideSqueezeHasMoreParametersAndHardlyMoreWork) {
  const Graph narrow = build("efficientnet_b0");
  const Graph wide = build("efficientnet_widese_b0");
  const int blocks[][3] = {{16, 96, 1},  {24, 144, 2},  {40, 240, 2},  // n, c, how many
                           {80, 480, 3}, {112, 672, 3}, {192, 1152, 4}};
  std::int64_t more = 0;
  for (const auto& [in, expanded, times] : blocks) {
    more += std::int64_t{times} * (2 * expanded + 1) * (expanded / 4 - in / 4);
  }
  EXPECT_EQ(graph::parameter_count(wide) - graph::parameter_count(narrow), more);
  EXPECT_NEAR(gemm_flops(wide, 1) / gemm_flops(narrow, 1), 1.0, 0.03);
}

TEST(VisionModels, ClassesChangeTheLastLayerOnly) {
  EXPECT_EQ(graph::parameter_count(build("vit_b_16:classes=10")), 86'567'656 - 990 * 769);
  EXPECT_EQ(graph::parameter_count(build("swin_t:classes=10")), 28'288'354 - 990 * 769);
  EXPECT_EQ(graph::parameter_count(build("efficientnet_b0:classes=10")), 5'288'548 - 990 * 1281);
}

// 16 * 16 tokens in place of 14 * 14 are 60 more rows in the position table.
TEST(VisionModels, ImagesChangeThePositionsOnly) {
  EXPECT_EQ(graph::parameter_count(build("vit_b_16:image=256")), 86'567'656 + 60 * 768);
  EXPECT_EQ(graph::parameter_count(build("swin_t:image=256")), 28'288'354);
  EXPECT_EQ(graph::parameter_count(build("convnext_tiny:image=256")), 28'589'128);
}

TEST(VisionModels, TakeTheSmallestImageTheyAllow) {
  for (const Published& row : kPublished) {
    std::string model = row.model;
    if (model.find("image=") != std::string::npos) continue;
    const int least = model == "inception_v4" ? 75 : model == "vit_h_14" ? 14 : 32;
    model += model.find(':') == std::string::npos ? ":image=" : ",image=";
    EXPECT_NO_THROW(build(model + std::to_string(least))) << model;
    EXPECT_THROW(build(model + "7"), Error) << model;
  }
}

TEST(VisionModels, PatchesMustFillTheImage) {
  try {
    build("vit_b_16:image=225");
    ADD_FAILURE() << "225 is no multiple of 16";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    EXPECT_NE(std::string(error.what()).find("multiple of 16"), std::string::npos);
  }
}

// Names and shapes as in torchvision's state_dict (timm's, NVIDIA's for the first three).
TEST(VisionModels, NameParametersAsTheirSourcesDo) {
  EXPECT_EQ(shape_of("inception_v4", "features.21.branch2_3b.conv.weight"), "[256, 512, 3, 1]");
  EXPECT_EQ(shape_of("inception_v4", "features.3.conv.bn.weight"), "[96]");
  EXPECT_EQ(shape_of("se_resnext101_32x4d", "layer1.0.squeeze.expand.weight"), "[256, 16]");
  EXPECT_EQ(shape_of("googlenet", "inception3a.branch3.1.conv.weight"), "[32, 16, 3, 3]");
  EXPECT_EQ(shape_of("googlenet", "aux2.fc1.weight"), "[1024, 2048]");
  EXPECT_EQ(shape_of("mobilenet_v3_large", "features.4.block.2.fc1.weight"), "[24, 72, 1, 1]");
  EXPECT_EQ(shape_of("mobilenet_v3_small", "classifier.3.weight"), "[1000, 1024]");
  EXPECT_EQ(shape_of("efficientnet_b0", "features.1.0.block.1.fc1.weight"), "[8, 32, 1, 1]");
  EXPECT_EQ(shape_of("efficientnet_b0", "features.8.0.weight"), "[1280, 320, 1, 1]");
  EXPECT_EQ(shape_of("efficientnet_v2_s", "features.2.0.block.1.0.weight"), "[48, 96, 1, 1]");
  EXPECT_EQ(shape_of("regnet_y_400mf", "trunk_output.block2.block2-0.f.se.fc1.weight"),
            "[12, 104, 1, 1]");
  EXPECT_EQ(shape_of("regnet_x_400mf", "trunk_output.block1.block1-0.proj.0.weight"),
            "[32, 32, 1, 1]");
  EXPECT_EQ(shape_of("convnext_tiny", "features.1.0.layer_scale"), "[96, 1, 1]");
  EXPECT_EQ(shape_of("convnext_tiny", "features.2.1.weight"), "[192, 96, 2, 2]");
  EXPECT_EQ(shape_of("vit_b_16", "encoder.layers.encoder_layer_11.self_attention.in_proj_weight"),
            "[2304, 768]");
  EXPECT_EQ(shape_of("vit_b_16", "encoder.pos_embedding"), "[1, 197, 768]");
  EXPECT_EQ(shape_of("swin_t", "features.1.0.attn.relative_position_bias_table"), "[169, 3]");
  EXPECT_EQ(shape_of("swin_t", "features.2.reduction.weight"), "[192, 384]");
  EXPECT_EQ(shape_of("swin_v2_t", "features.1.0.attn.cpb_mlp.0.weight"), "[512, 2]");
}

TEST(VisionModels, NothingReadsWhatWasOverwritten) {
  for (const Published& row : kPublished) expect_no_use_of_overwritten(row.model);
}

}  // namespace
}  // namespace foretrain::zoo
