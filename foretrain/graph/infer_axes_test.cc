// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/graph/test_shapes.h"

namespace foretrain::graph {
namespace {

using K = Kind;
using A = Attr;

TEST(BinaryOperators, BroadcastTheirInputs) {
  for (const Kind kind : {K::Add, K::Sub, K::Mul, K::Div, K::Maximum, K::Minimum, K::Compare}) {
    EXPECT_EQ(inferred(kind, {"batch,3,1", "4"}), "[batch, 3, 4]") << op(kind).name;
    EXPECT_EQ(inferred(kind, {"1", "batch,3"}), "[batch, 3]") << op(kind).name;
    EXPECT_EQ(inferred(kind, {"3", "4"}), "shapes of the inputs do not broadcast") << op(kind).name;
    EXPECT_EQ(inferred(kind, {"batch", "seq"}), "shapes of the inputs do not broadcast")
        << op(kind).name;
  }
}

TEST(BinaryOperators, TakeAsManyInputsAsTheyHaveGradientsFor) {
  EXPECT_EQ(inferred(K::Mul, {"3"}), "takes 2 inputs, has 1");
  EXPECT_EQ(inferred(K::Div, {"3", "3", "3"}), "takes 2 inputs, has 3");
  EXPECT_EQ(inferred(K::Where, {"3"}), "takes 2 to 3 inputs, has 1");
  EXPECT_EQ(inferred(K::Where, {"3", "1", "batch,1"}), "[batch, 3]");
  EXPECT_EQ(inferred(K::Compare, {"3"}), "[3]");  // with a constant
  EXPECT_EQ(inferred(K::Add, {"3", "3", "batch,3"}), "[batch, 3]");
  EXPECT_EQ(inferred(K::Add, {}), "needs an input");
}

TEST(Dropout, HasAMask) { EXPECT_EQ(inferred(K::Dropout, {"batch,3"}), "[batch, 3] [batch, 3]"); }

// Mean and deviation: per channel, per sample and group, per row; root mean square has one.
TEST(Norms, KeepTheShapeAndGiveStatistics) {
  EXPECT_EQ(inferred(K::BatchNorm, {"batch,4,8,8", "4", "4", "4", "4"}), "[batch, 4, 8, 8] [8]");
  EXPECT_EQ(inferred(K::GroupNorm, {"batch,4,8,8", "4", "4"}, {{A::Groups, {2}}}),
            "[batch, 4, 8, 8] [4*batch]");
  EXPECT_EQ(inferred(K::LayerNorm, {"batch,seq,8", "8", "8"}), "[batch, seq, 8] [2*batch*seq]");
  EXPECT_EQ(inferred(K::LayerNorm, {"batch,seq,8"}, {{A::Axes, {2}}}), "[batch, seq, 8] [2*batch]");
  EXPECT_EQ(inferred(K::RmsNorm, {"batch,seq,8", "8"}), "[batch, seq, 8] [batch*seq]");
}

TEST(Norms, RefuseWhatDoesNotFit) {
  EXPECT_EQ(inferred(K::BatchNorm, {"4"}), "batch norm takes [batch, channels, ...]");
  EXPECT_EQ(inferred(K::GroupNorm, {"batch"}), "group norm takes [batch, channels, ...]");
  EXPECT_EQ(inferred(K::GroupNorm, {"batch,4"}, {{A::Groups, {0}}}),
            "group norm needs at least one group");
  EXPECT_EQ(inferred(K::LayerNorm, {"batch,8"}, {{A::Axes, {3}}}),
            "the norm's axes exceed the tensor's rank");
  EXPECT_EQ(inferred(K::RmsNorm, {""}), "the norm's axes exceed the tensor's rank");
  EXPECT_EQ(inferred(K::LayerNorm, {}), "takes 1 to 3 inputs, has 0");
  for (const Kind kind : {K::BatchNorm, K::GroupNorm, K::LayerNorm, K::RmsNorm}) {
    EXPECT_EQ(inferred(kind, {"batch,4,8", "5"}), "a weight of the norm does not fit its input");
  }
}

TEST(Reductions, RemoveOrKeepAxes) {
  for (const Kind kind : {K::Sum, K::Mean, K::ArgMax}) {
    EXPECT_EQ(inferred(kind, {"batch,3,4"}), "[]") << op(kind).name;
    EXPECT_EQ(inferred(kind, {"batch,3,4"}, {{A::Axes, {-1, 1}}}), "[batch]") << op(kind).name;
    EXPECT_EQ(inferred(kind, {"batch,3,4"}, {{A::Axes, {1}}, {A::KeepDims, {1}}}), "[batch, 1, 4]");
    EXPECT_EQ(inferred(kind, {"batch,3,4"}, {{A::Axes, {3}}}), "a reduced axis is not there");
    EXPECT_EQ(inferred(kind, {"batch,3,4"}, {{A::Axes, {-4}}}), "a reduced axis is not there");
  }
}

TEST(TopK, GivesValuesAndIndices) {
  EXPECT_EQ(inferred(K::TopK, {"batch,10"}, {{A::Sizes, {3}}}), "[batch, 3] [batch, 3]");
  EXPECT_EQ(inferred(K::TopK, {"batch,10"}, {{A::Sizes, {11}}}), "top-k takes more than there is");
  EXPECT_EQ(inferred(K::TopK, {""}), "axis lies outside the tensor's rank");
}

// (112 + 2 - 3) / 2 + 1 = 56. Rounded up, 7 with kernel 2 and stride 2: 3 and a half windows.
TEST(Pools, MoveTheirWindowOverSpace) {
  EXPECT_EQ(inferred(K::MaxPool, {"batch,64,112,112"},
                     {{A::Kernel, {3}}, {A::Stride, {2}}, {A::Padding, {1}}}),
            "[batch, 64, 56, 56] [batch, 64, 56, 56]");
  EXPECT_EQ(inferred(K::AvgPool, {"batch,4,7"}, {{A::Kernel, {2}}, {A::Stride, {2}}}),
            "[batch, 4, 3]");
  EXPECT_EQ(
      inferred(K::AvgPool, {"batch,4,7"}, {{A::Kernel, {2}}, {A::Stride, {2}}, {A::CeilMode, {1}}}),
      "[batch, 4, 4]");
}

// Rounded up, (4 + 2 - 2) / 3 would start its third window at 6, beyond 4 + 1, so there are two.
TEST(Pools, DropAWindowThatWouldStartInTheRightPadding) {
  EXPECT_EQ(inferred(K::AvgPool, {"batch,4,4"},
                     {{A::Kernel, {2}}, {A::Stride, {3}}, {A::Padding, {1}}, {A::CeilMode, {1}}}),
            "[batch, 4, 2]");
}

TEST(Pools, RefuseWhatDoesNotFit) {
  EXPECT_EQ(inferred(K::MaxPool, {"batch,4"}, {{A::Kernel, {2}}}),
            "pooling takes [batch, channels, space...]");
  EXPECT_EQ(inferred(K::MaxPool, {"batch,4,1"}, {{A::Kernel, {2}}}),
            "the window is larger than the padded input");
  EXPECT_EQ(inferred(K::AdaptiveAvgPool, {"batch,4"}), "pooling takes [batch, channels, space...]");
  EXPECT_EQ(inferred(K::AdaptiveAvgPool, {"batch,4,7"}, {{A::Sizes, {0}}}),
            "adaptive pooling needs a positive output size");
}

TEST(AdaptiveAvgPool, HasTheSizeThatItIsGiven) {
  EXPECT_EQ(inferred(K::AdaptiveAvgPool, {"batch,4,7,9"}), "[batch, 4, 1, 1]");
  EXPECT_EQ(inferred(K::AdaptiveAvgPool, {"batch,4,7,9"}, {{A::Sizes, {3, 2}}}),
            "[batch, 4, 3, 2]");
}

TEST(Losses, AreScalars) {
  EXPECT_EQ(inferred(K::CrossEntropy, {"batch,10", "batch"}), "[] [batch, 10]");
  EXPECT_EQ(inferred(K::PointwiseLoss, {"batch,10", "batch,10"}), "[]");
  EXPECT_EQ(inferred(K::PointwiseLoss, {"batch,10", "batch"}),
            "prediction and target differ in shape");
  EXPECT_EQ(inferred(K::CrossEntropy, {"batch,10"}), "takes 2 inputs, has 1");
}

}  // namespace
}  // namespace foretrain::graph
