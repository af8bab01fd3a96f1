// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

using graph::Graph;

// torchvision's `num_params`. YOLOv3: what its PyTorch ports have; 255 - 75 = 180 fewer outputs of
// 1024 + 512 + 256 weights and three biases for the 20 classes of VOC. NVIDIA's SSD300, by hand:
// ResNet-50 up to its third stage 8,543,296, five pairs of convolutions and norms
// 1,443,328 + 1,312,256 + 361,216 + 2 * 328,448, and (9 c + 1) * anchors * 85 for maps of c =
// 1024, 512, 512 and three times 256 channels: 10,577,910. EfficientDet: TensorFlow's, without the
// biases before norms, which PyTorch's leaves out: of eight nodes a cell, six convolutions to the
// pyramid's width and three in each of two heads.
constexpr Published kPublished[] = {
    {"ssd300_vgg16", 35'641'826},
    {"ssd300", 22'894'902},
    {"yolov3", 61'949'149},
    {"yolov3:classes=20", 61'949'149 - 180 * 1795},
    {"retinanet_resnet50_fpn", 34'014'999},
    {"fasterrcnn_resnet50_fpn", 41'755'286},
    {"maskrcnn_resnet50_fpn", 44'401'393},
    {"keypointrcnn_resnet50_fpn", 59'137'258},
    // Without the 222'400 that are frozen and with the 50'176 of norms that learn, MMDetection's
    // published 69.17 and 77.10 million.
    {"cascadercnn_resnet50_fpn:classes=81", 69'341'646},
    {"cascademaskrcnn_resnet50_fpn:classes=81", 77'272'257},
    // Faster R-CNN without 14'362'055 of its second stage; without 593'935 of its first.
    {"rpn_resnet50_fpn", 27'393'231},
    {"fasterrcnn_resnet50_fpn:rpn=0", 41'161'351},
    {"efficientdet_d0", 3'880'067 - 64 * (3 * 8 + 6 + 6)},
    {"efficientdet_d1", 6'625'898 - 88 * (4 * 8 + 6 + 6)},
};

TEST(Detectors, HaveThePublishedParameters) { expect_parameters(kPublished); }

// torchvision's `_ops` in billions of multiply-adds, for images of 800 x 800 and a thousand
// proposals where there are any; YOLOv3's 65.86 billion operations as Darknet prints them. Mask
// R-CNN was counted without an object, so without its masks' work.
TEST(Detectors, HaveThePublishedWork) {
  EXPECT_NEAR(forward_gmac("ssd300_vgg16"), 34.858, 0.0006);
  EXPECT_NEAR(forward_gmac("retinanet_resnet50_fpn:image=800"), 151.54, 0.0006);
  EXPECT_NEAR(forward_gmac("fasterrcnn_resnet50_fpn:image=800,proposals=1000"), 134.38, 0.0006);
  EXPECT_NEAR(2 * forward_gmac("yolov3"), 65.86, 0.01);
}

// As in the paper's table, in billions, to its two digits.
TEST(Detectors, EfficientDetHasTheWorkOfThePaper) {
  EXPECT_NEAR(forward_gmac("efficientdet_d0"), 2.5, 0.02 * 2.5);
  EXPECT_NEAR(forward_gmac("efficientdet_d1"), 6.1, 0.02 * 6.1);
  EXPECT_NEAR(forward_gmac("efficientdet_d2"), 11, 0.02 * 11);
  EXPECT_NEAR(forward_gmac("efficientdet_d3"), 25, 0.02 * 25);
}

// Masks of 128 proposals: four convolutions over 14 x 14 pixels, 256 * 256 * 9 each, one of
// 256 * 256 * 4 that doubles both sides, 256 * 91 for each of the 28 x 28 pixels.
TEST(Detectors, MasksAddTheirWork) {
  const double boxes = gemm_flops(build("fasterrcnn_resnet50_fpn"), 1);
  const double masks = gemm_flops(build("maskrcnn_resnet50_fpn"), 1);
  const double by_hand = 128.0 * (196.0 * (4 * 589'824 + 262'144) + 784.0 * 23'296);
  EXPECT_NEAR((masks - boxes) / 2, by_hand, 1);
}

// Three stages for one, which find one box for all classes: 1024 * 4 * (91 - 1) less for each of
// the 512 proposals of a stage.
TEST(Detectors, ACascadeRepeatsTheSecondStage) {
  const double first = gemm_flops(build("rpn_resnet50_fpn"), 1);
  const double both = gemm_flops(build("fasterrcnn_resnet50_fpn"), 1);
  const double cascade = gemm_flops(build("cascadercnn_resnet50_fpn"), 1);
  const double less = 2.0 * 512 * 1024 * 4 * 90;
  EXPECT_NEAR(cascade - first, 3 * (both - first - less), 1);
}

// A proposal: 7 * 7 * 256 * 1024 + 1024 * 1024 + 1024 * 5 * 91 multiply-adds.
TEST(Detectors, ProposalsAddTheirWork) {
  const double few = gemm_flops(build("fasterrcnn_resnet50_fpn:proposals=256"), 1);
  const double many = gemm_flops(build("fasterrcnn_resnet50_fpn:proposals=512"), 1);
  EXPECT_NEAR((many - few) / 2, 256.0 * (12'845'056 + 1'048'576 + 465'920), 1);
}

// 38 * 38 * 4 + 19 * 19 * 6 + 10 * 10 * 6 + 5 * 5 * 6 + 3 * 3 * 4 + 4 = 8732.
TEST(Detectors, SsdHasItsAnchors) {
  const graph::Dim batch = graph::symbol(0);
  const Graph nvidia = build("ssd300");
  EXPECT_EQ(nvidia.tensor(nvidia.outputs[0]).shape, (graph::Shape{batch, 4, 8732}));
  EXPECT_EQ(nvidia.tensor(nvidia.outputs[1]).shape, (graph::Shape{batch, 81, 8732}));
  const Graph vgg = build("ssd300_vgg16");
  EXPECT_EQ(vgg.tensor(vgg.outputs[0]).shape, (graph::Shape{batch, 8732, 4}));
}

TEST(Detectors, YoloPredictsAtThreeScales) {
  const Graph graph = build("yolov3:classes=20,image=320");
  ASSERT_EQ(graph.outputs.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t grid = 40 >> i;
    EXPECT_EQ(graph.tensor(graph.outputs[i]).shape,
              (graph::Shape{graph::symbol(0), grid, grid, 3, 25}));
  }
}

std::int64_t learned(const Graph& graph) {
  std::int64_t sum = 0;
  for (const graph::Tensor& tensor : graph.tensors) {
    if (tensor.trainable) sum += elements(tensor.shape).factor;
  }
  return sum;
}

// Stem 9,408; first stage 64 * (64 + 576 + 256) + 64 * 256 and twice 256 * 64 * 2 + 64 * 576:
// 73,728 + 139,264 = 212,992.
TEST(Detectors, FirstLayersOfABackboneAreFrozen) {
  const std::int64_t all = 41'755'286;
  EXPECT_EQ(learned(build("fasterrcnn_resnet50_fpn:trainable_layers=5")), all);
  EXPECT_EQ(learned(build("fasterrcnn_resnet50_fpn:trainable_layers=4")), all - 9'408);
  EXPECT_EQ(learned(build("fasterrcnn_resnet50_fpn")), all - 9'408 - 212'992);
  EXPECT_EQ(learned(build("cascadercnn_resnet50_fpn:classes=81,norms=1")), 69'169'422);
}

TEST(Detectors, SayWhatTheyAssume) {
  for (const Published& row : kPublished) EXPECT_FALSE(build(row.model).notes.empty()) << row.model;
}

TEST(Detectors, NameParametersAsTheirSourcesDo) {
  EXPECT_TRUE(has_tensor(build("yolov3"), "module_list.105.conv_105.bias"));
  EXPECT_TRUE(has_tensor(build("ssd300"), "feature_extractor.feature_extractor.6.5.conv3.weight"));
  EXPECT_TRUE(has_tensor(build("ssd300"), "additional_blocks.4.3.weight"));
  EXPECT_TRUE(has_tensor(build("ssd300_vgg16"), "backbone.extra.0.7.1.weight"));
  EXPECT_TRUE(has_tensor(build("retinanet_resnet50_fpn"), "backbone.fpn.extra_blocks.p7.bias"));
  EXPECT_TRUE(has_tensor(build("retinanet_resnet50_fpn"), "head.regression_head.conv.3.0.weight"));
  const Graph efficient = build("efficientdet_d0");
  EXPECT_TRUE(has_tensor(efficient, "fpn.cell.0.fnode.5.combine.resample.2.conv.conv.weight"));
  EXPECT_TRUE(has_tensor(efficient, "class_net.bn_rep.2.4.bn.weight"));
  const Graph mask = build("maskrcnn_resnet50_fpn");
  EXPECT_TRUE(has_tensor(mask, "backbone.body.layer4.2.bn3.running_var"));
  EXPECT_TRUE(has_tensor(mask, "backbone.fpn.inner_blocks.3.0.weight"));
  EXPECT_TRUE(has_tensor(mask, "rpn.head.conv.0.0.weight"));
  EXPECT_TRUE(has_tensor(mask, "roi_heads.box_predictor.bbox_pred.weight"));
  EXPECT_TRUE(has_tensor(mask, "roi_heads.mask_predictor.mask_fcn_logits.weight"));
}

TEST(Detectors, RefuseWhatDoesNotFit) {
  EXPECT_THROW(build("yolov3:image=400"), Error);
  EXPECT_THROW(build("ssd300:image=299"), Error);
  EXPECT_THROW(build("efficientdet_d0:image=500"), Error);
  EXPECT_THROW(build("fasterrcnn_resnet50_fpn:trainable_layers=6"), Error);
  EXPECT_THROW(build("fasterrcnn_resnet50_fpn:proposals=0"), Error);
  EXPECT_THROW(build("retinanet_resnet50_fpn:proposals=512"), Error);
  EXPECT_NO_THROW(build("maskrcnn_resnet18_fpn:image=128,proposals=4"));
  EXPECT_NO_THROW(build("retinanet_resnet50_fpn:height=801,width=333"));
}

// The stem's, three in each of 16 bottlenecks, and one for each of five maps in the RPN.
TEST(Detectors, ReLUsOfHeadsNeedNotBeInPlace) {
  const auto in_place = [](const std::string& model) {
    int count = 0;
    for (const graph::Node& node : build(model).nodes) {
      const bool relu = node.kind == graph::Kind::Relu;
      if (relu && node.attributes.number(graph::Attr::Inplace, 0) != 0) ++count;
    }
    return count;
  };
  EXPECT_EQ(in_place("rpn_resnet50_fpn"), 1 + 3 * 16 + 5);
  EXPECT_EQ(in_place("rpn_resnet50_fpn:inplace=0"), 1 + 3 * 16);
}

TEST(Detectors, ReadNothingThatWasOverwritten) {
  for (const Published& row : kPublished) expect_no_use_of_overwritten(row.model);
}

}  // namespace
}  // namespace foretrain::zoo
