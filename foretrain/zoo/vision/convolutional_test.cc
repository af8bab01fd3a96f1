// SPDX-License-Identifier: Apache-2.0
// The convolutional models against what is published of them.
#include <gtest/gtest.h>

#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Shape;
using graph::Tensor;

// `num_params` and `_ops` of the weights in torchvision 0.15; inception_v3's multiply-adds are
// those of inference, without the auxiliary classifier.
constexpr Published kPublished[] = {
    {"resnet18", 11'689'512, 1.814},
    {"resnet34", 21'797'672, 3.664},
    {"resnet50", 25'557'032, 4.089},
    {"resnet101", 44'549'160, 7.801},
    {"resnet152", 60'192'808, 11.514},
    {"resnext50_32x4d", 25'028'904, 4.23},
    {"resnext101_32x8d", 88'791'336, 16.414},
    {"wide_resnet50_2", 68'883'240, 11.398},
    {"wide_resnet101_2", 126'886'696, 22.753},
    {"alexnet", 61'100'840, 0.714},
    {"vgg11", 132'863'336, 7.609},
    {"vgg13", 133'047'848, 11.308},
    {"vgg16", 138'357'544, 15.47},
    {"vgg19", 143'667'240, 19.632},
    {"vgg11_bn", 132'868'840, 7.609},
    {"vgg13_bn", 133'053'736, 11.308},
    {"vgg16_bn", 138'365'992, 15.47},
    {"vgg19_bn", 143'678'248, 19.632},
    {"squeezenet1_0", 1'248'424, 0.819},
    {"squeezenet1_1", 1'235'496, 0.349},
    {"densenet121", 7'978'856, 2.834},
    {"densenet161", 28'681'000, 7.728},
    {"densenet169", 14'149'480, 3.36},
    {"densenet201", 20'013'928, 4.291},
    {"inception_v3:aux=0", 23'834'568, 5.713},
    {"mobilenet_v2", 3'504'872, 0.301},
    {"mnasnet0_5", 2'218'512, 0.104},
    {"mnasnet0_75", 3'170'208, 0.215},
    {"mnasnet1_0", 4'383'312, 0.314},
    {"mnasnet1_3", 6'282'256, 0.526},
    {"shufflenet_v2_x0_5", 1'366'792, 0.04},
    {"shufflenet_v2_x1_0", 2'278'604, 0.145},
    {"shufflenet_v2_x1_5", 3'503'624, 0.296},
    {"shufflenet_v2_x2_0", 7'393'996, 0.583},
};

TEST(ConvolutionalModels, HaveThePublishedParameters) { expect_parameters(kPublished); }

TEST(ConvolutionalModels, HaveThePublishedWork) { expect_work(kPublished); }

TEST(ConvolutionalModels, GiveOneLogitPerClass) { expect_one_logit_per_class(kPublished, 1000); }

TEST(ConvolutionalModels, TakeImagesAndClassNumbers) {
  for (const Published& row : kPublished) {
    std::vector<Tensor> inputs;
    for (const Tensor& tensor : build(row.model).tensors) {
      if (tensor.role == graph::Role::Input) inputs.push_back(tensor);
    }
    ASSERT_EQ(inputs.size(), 2u) << row.model;
    EXPECT_EQ(inputs[0].shape.rank(), 4) << row.model;
    EXPECT_EQ(inputs[0].type, DType::F32) << row.model;
    EXPECT_EQ(inputs[1].shape, Shape{graph::symbol(0)}) << row.model;
    EXPECT_EQ(inputs[1].type, DType::I64) << row.model;
  }
}

// ResNet-18 for CIFAR: torchvision's 11,689,512 with a stem of 3*64*9 = 1,728 in place of
// 3*64*49 = 9,408 weights and 513*10 = 5,130 in place of 513*1000 = 513,000 in the last layer.
// The other wide ones likewise, with 2049 per class from 50 layers on. He's thin ones, of n
// blocks a stage: 464 in the stem, n*(2*16*16*9 + 64) in the first stage, then for c = 32, 64
// c/2*c*9 + c*c*9 + 4c in the first and 2*c*c*9 + 4c in each other block, 650 at the end;
// his paper gives 0.27M, 0.46M, 0.66M, 0.85M and 1.7M.
TEST(ConvolutionalModels, ForCifarHaveTheirParameters) {
  EXPECT_EQ(graph::parameter_count(build("resnet18-cifar")), 11'173'962);
  EXPECT_EQ(graph::parameter_count(build("resnet34-cifar")), 21'282'122);
  EXPECT_EQ(graph::parameter_count(build("resnet50-cifar")), 23'520'842);
  EXPECT_EQ(graph::parameter_count(build("resnet101-cifar")), 42'512'970);
  EXPECT_EQ(graph::parameter_count(build("resnet152-cifar")), 58'156'618);
  EXPECT_EQ(graph::parameter_count(build("resnet20-cifar")), 269'722);
  EXPECT_EQ(graph::parameter_count(build("resnet32-cifar")), 464'154);
  EXPECT_EQ(graph::parameter_count(build("resnet44-cifar")), 658'586);
  EXPECT_EQ(graph::parameter_count(build("resnet56-cifar")), 853'018);
  EXPECT_EQ(graph::parameter_count(build("resnet110-cifar")), 1'727'962);
}

// Three blocks of 12 layers that each append 12 channels to 16, 160 and 304: the layers have
// 9*12 + 2 = 110 per input channel, the transitions c*c + 2c for c = 160 and 304, the stem 432,
// the last norm 2*448, the classifier 4490. Channels into layers: 12*16 + 12*66 = 984, 2712,
// 4440, in all 8136. 894,960 + 25,920 + 93,024 + 432 + 896 + 4490 = 1,019,722.
TEST(ConvolutionalModels, DenseNet40HasItsParameters) {
  EXPECT_EQ(graph::parameter_count(build("densenet40-k12")), 1'019'722);
}

TEST(ConvolutionalModels, AuxiliaryClassifierAddsItsParametersAndLoss) {
  const Graph graph = build("inception_v3");
  EXPECT_EQ(graph::parameter_count(graph), 27'161'264);
  EXPECT_EQ(count(graph, Kind::CrossEntropy), 2);
  EXPECT_EQ(graph.outputs.size(), 1u);
}

TEST(ConvolutionalModels, ClassesChangeTheLastLayerOnly) {
  EXPECT_EQ(graph::parameter_count(build("resnet50:classes=10")), 25'557'032 - 990 * 2049);
  EXPECT_EQ(graph::parameter_count(build("resnet50:image=64")), 25'557'032);
}

// Twice the image in each direction is four times the convolutions; the last layer stays.
TEST(ConvolutionalModels, WorkGrowsWithTheImage) {
  const double head = 2048 * 1000 / 1e9;
  EXPECT_NEAR(forward_gmac("resnet50:image=448") - head, 4 * (forward_gmac("resnet50") - head),
              1e-9);
}

TEST(ConvolutionalModels, TakeTheSmallestImageTheyAllow) {
  for (const Published& row : kPublished) {
    std::string model = row.model;
    const int least = model == "alexnet" ? 63 : model.starts_with("inception") ? 75 : 32;
    model += model.ends_with("aux=0") ? ",image=" : ":image=";
    model += std::to_string(least);
    EXPECT_NO_THROW(build(model)) << model;
  }
  EXPECT_NO_THROW(build("resnet18-cifar:image=8"));
  EXPECT_NO_THROW(build("resnet20-cifar:image=4"));
  EXPECT_NO_THROW(build("densenet40-k12:image=4"));
}

// Names and shapes as in torchvision's state_dict.
TEST(ConvolutionalModels, NameParametersAsTorchvisionDoes) {
  EXPECT_EQ(shape_of("resnet50", "conv1.weight"), "[64, 3, 7, 7]");
  EXPECT_EQ(shape_of("resnet50", "layer1.0.conv1.weight"), "[64, 64, 1, 1]");
  EXPECT_EQ(shape_of("resnet50", "layer2.0.downsample.0.weight"), "[512, 256, 1, 1]");
  EXPECT_EQ(shape_of("resnet50", "layer4.2.bn3.running_var"), "[2048]");
  EXPECT_EQ(shape_of("resnext50_32x4d", "layer1.0.conv2.weight"), "[128, 4, 3, 3]");
  EXPECT_EQ(shape_of("vgg16", "features.28.weight"), "[512, 512, 3, 3]");
  EXPECT_EQ(shape_of("vgg16_bn", "features.41.bias"), "[512]");
  EXPECT_EQ(shape_of("vgg16", "classifier.0.weight"), "[4096, 25088]");
  EXPECT_EQ(shape_of("alexnet", "classifier.1.weight"), "[4096, 9216]");
  EXPECT_EQ(shape_of("squeezenet1_0", "features.12.expand3x3.weight"), "[256, 64, 3, 3]");
  EXPECT_EQ(shape_of("squeezenet1_1", "features.12.expand3x3.weight"), "[256, 64, 3, 3]");
  EXPECT_EQ(shape_of("densenet121", "features.denseblock1.denselayer2.conv1.weight"),
            "[128, 96, 1, 1]");
  EXPECT_EQ(shape_of("densenet121", "features.transition3.conv.weight"), "[512, 1024, 1, 1]");
  EXPECT_EQ(shape_of("densenet121", "features.norm5.weight"), "[1024]");
  EXPECT_EQ(shape_of("inception_v3", "Mixed_6b.branch7x7_2.conv.weight"), "[128, 128, 1, 7]");
  EXPECT_EQ(shape_of("inception_v3", "Mixed_7c.branch3x3dbl_3b.bn.weight"), "[384]");
  EXPECT_EQ(shape_of("inception_v3", "AuxLogits.conv1.conv.weight"), "[768, 128, 5, 5]");
  EXPECT_EQ(shape_of("mobilenet_v2", "features.1.conv.0.0.weight"), "[32, 1, 3, 3]");
  EXPECT_EQ(shape_of("mobilenet_v2", "features.17.conv.2.weight"), "[320, 960, 1, 1]");
  EXPECT_EQ(shape_of("mobilenet_v2", "classifier.1.weight"), "[1000, 1280]");
  EXPECT_EQ(shape_of("mnasnet1_0", "layers.8.0.layers.3.weight"), "[48, 1, 3, 3]");
  EXPECT_EQ(shape_of("mnasnet1_0", "layers.14.weight"), "[1280, 320, 1, 1]");
  EXPECT_EQ(shape_of("shufflenet_v2_x1_0", "stage2.0.branch1.2.weight"), "[58, 24, 1, 1]");
  EXPECT_EQ(shape_of("shufflenet_v2_x1_0", "conv5.0.weight"), "[1024, 464, 1, 1]");
}

TEST(ConvolutionalModels, NothingReadsWhatWasOverwritten) {
  for (const Published& row : kPublished) expect_no_use_of_overwritten(row.model);
}

TEST(ConvolutionalModels, EveryReluWorksInPlace) {
  for (const Published& row : kPublished) {
    for (const Node& node : build(row.model).nodes) {
      if (node.kind != Kind::Relu && node.kind != Kind::Relu6) continue;
      EXPECT_EQ(node.attributes.number(Attr::Inplace, 0), 1) << row.model << " " << node.scope;
    }
  }
}

}  // namespace
}  // namespace foretrain::zoo
