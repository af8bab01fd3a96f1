// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/graph/test_shapes.h"

namespace foretrain::graph {
namespace {

using K = Kind;
using A = Attr;
const Dim kBatch = symbol(0);

TEST(Reshape, FillsInWhatIsLeft) {
  EXPECT_EQ(inferred(K::Reshape, {"batch,3,8"}, {{A::Shape, {kBatch, -1}}}), "[batch, 24]");
  EXPECT_EQ(inferred(K::Reshape, {"batch,6,8"}, {{A::Shape, {-1, 8}}}), "[6*batch, 8]");
  EXPECT_EQ(inferred(K::Reshape, {"batch,seq,8"}, {{A::Shape, {0, 0, 2, 4}}}),
            "[batch, seq, 2, 4]");
  EXPECT_EQ(inferred(K::Reshape, {"1,1"}, {{A::Shape, {}}}), "[]");
}

TEST(Reshape, KeepsTheNumberOfElements) {
  EXPECT_EQ(inferred(K::Reshape, {"batch,6"}, {{A::Shape, {kBatch, 5}}}),
            "reshape changes the number of elements");
  EXPECT_EQ(inferred(K::Reshape, {"batch,6"}, {{A::Shape, {-1, 4}}}),
            "reshape does not divide the elements evenly");
  EXPECT_EQ(inferred(K::Reshape, {"6"}, {{A::Shape, {-1, -1}}}),
            "reshape has more than one dimension of -1");
  EXPECT_EQ(inferred(K::Reshape, {"6"}, {{A::Shape, {6, 0}}}),
            "reshape copies a dimension that is not there");
  EXPECT_EQ(inferred(K::Reshape, {"6"}, {{A::Shape, {-6, -1}}}),
            "reshape has a dimension that is not positive");
  EXPECT_EQ(inferred(K::Reshape, {"6"}), "reshape needs the attribute 'shape'");
}

TEST(Transpose, TakesAPermutation) {
  EXPECT_EQ(inferred(K::Transpose, {"batch,3,5"}, {{A::Axes, {2, 0, 1}}}), "[5, batch, 3]");
  EXPECT_EQ(inferred(K::Transpose, {"2,3"}, {{A::Axes, {0, 0}}}), "transpose names an axis twice");
  EXPECT_EQ(inferred(K::Transpose, {"2,3"}, {{A::Axes, {0, 2}}}),
            "transpose names an axis that is not there");
  EXPECT_EQ(inferred(K::Transpose, {"2,3"}, {{A::Axes, {0}}}),
            "transpose needs 'axes' with one entry per dimension");
}

// Elements 1, 3, 5 of 7; -2 counts from the end.
TEST(Slice, CountsStepsFromStartToEnd) {
  EXPECT_EQ(inferred(K::Slice, {"batch,7"},
                     {{A::Axis, {1}}, {A::Start, {1}}, {A::End, {6}}, {A::Step, {2}}}),
            "[batch, 3]");
  EXPECT_EQ(inferred(K::Slice, {"batch,7"}, {{A::Axis, {-1}}, {A::Start, {-2}}}), "[batch, 2]");
  EXPECT_EQ(inferred(K::Slice, {"7"}, {{A::End, {100}}}), "[7]");
  EXPECT_EQ(inferred(K::Slice, {"7"}, {{A::Start, {5}}, {A::End, {2}}}),
            "slice is empty or runs backwards");
  EXPECT_EQ(inferred(K::Slice, {"7"}, {{A::Step, {-1}}}), "slice is empty or runs backwards");
  EXPECT_EQ(inferred(K::Slice, {"batch"}), "slice along an axis whose size is a symbol");
  EXPECT_EQ(inferred(K::Slice, {"7"}, {{A::Axis, {1}}}), "axis lies outside the tensor's rank");
}

TEST(Split, HasOneOutputPerSize) {
  EXPECT_EQ(inferred(K::Split, {"batch,6"}, {{A::Axis, {1}}, {A::Sizes, {1, 2, 3}}}),
            "[batch, 1] [batch, 2] [batch, 3]");
  EXPECT_EQ(inferred(K::Split, {"6*batch"}, {{A::Sizes, {kBatch * 2, kBatch * 4}}}),
            "[2*batch] [4*batch]");
  EXPECT_EQ(inferred(K::Split, {"6"}, {{A::Sizes, {1, 2}}}),
            "split sizes do not add up to the axis");
  EXPECT_EQ(inferred(K::Split, {"6"}, {{A::Sizes, {7, -1}}}), "split has a size that does not fit");
  EXPECT_EQ(inferred(K::Split, {"6"}), "split needs 'sizes' along its axis");
}

TEST(Expand, RepeatsDimensionsOfOne) {
  EXPECT_EQ(inferred(K::Expand, {"1,3"}, {{A::Shape, {kBatch, -1}}}), "[batch, 3]");
  EXPECT_EQ(inferred(K::Expand, {"3"}, {{A::Shape, {4, kBatch, 3}}}), "[4, batch, 3]");
  EXPECT_EQ(inferred(K::Expand, {"2,3"}, {{A::Shape, {4, 3}}}),
            "shapes of the inputs do not broadcast");
  EXPECT_EQ(inferred(K::Expand, {"2,3"}, {{A::Shape, {3}}}), "expand lowers the rank");
  EXPECT_EQ(inferred(K::Expand, {"3"}, {{A::Shape, {-1, 3}}}),
            "expand copies a dimension that is not there");
}

TEST(Concat, AddsUpItsAxis) {
  EXPECT_EQ(inferred(K::Concat, {"batch,3,8", "batch,5,8"}), "[batch, 8, 8]");  // axis 1
  EXPECT_EQ(inferred(K::Concat, {"batch,3", "2*batch,3"}, {{A::Axis, {0}}}), "[3*batch, 3]");
  EXPECT_EQ(inferred(K::Concat, {"batch,3", "batch,3,1"}), "concat of different ranks");
  EXPECT_EQ(inferred(K::Concat, {"batch,3", "seq,3"}),
            "concat of shapes that differ beside its axis");
  EXPECT_EQ(inferred(K::Concat, {"batch,3", "5,3"}, {{A::Axis, {0}}}),
            "concat of a number and a symbol; give the symbol a value");
  EXPECT_EQ(inferred(K::Concat, {}), "concat of nothing");
  EXPECT_EQ(inferred(K::Concat, {"281474976710656,1", "281474976710656,1"}, {{A::Axis, {0}}}),
            "a tensor has more than 2^48 elements; use smaller sizes");
}

TEST(Pad, AddsBeforeAndAfter) {
  EXPECT_EQ(inferred(K::Pad, {"batch,5"}, {{A::Padding, {0, 1, 0, 2}}}), "[batch, 8]");
  EXPECT_EQ(inferred(K::Pad, {"batch,5"}, {{A::Padding, {0, -1, 0, -2}}}), "[batch, 2]");
  EXPECT_EQ(inferred(K::Pad, {"batch,5"}, {{A::Padding, {1, 0, 0, 0}}}),
            "pad along an axis whose size is a symbol");
  EXPECT_EQ(inferred(K::Pad, {"5"}, {{A::Padding, {-3, -2}}}), "pad removes a whole axis");
  EXPECT_EQ(inferred(K::Pad, {"5"}, {{A::Padding, {1}}}),
            "pad needs 'padding' with all sizes before, then all after");
}

TEST(Gather, PutsTheIndicesShapeInPlaceOfItsAxis) {
  EXPECT_EQ(inferred(K::Gather, {"7,3", "batch,2"}), "[batch, 2, 3]");
  EXPECT_EQ(inferred(K::Gather, {"batch,7", "2"}, {{A::Axis, {1}}}), "[batch, 2]");
  EXPECT_EQ(inferred(K::Gather, {"1,1,1,1,1", "1,1,1,1,1"}), "a tensor has more than 8 dimensions");
}

TEST(Upsample, TakesTheExtentOfItsOutput) {
  EXPECT_EQ(inferred(K::Upsample, {"batch,3,4,4"}, {{A::Sizes, {8}}}), "[batch, 3, 8, 8]");
  EXPECT_EQ(inferred(K::Upsample, {"batch,3,4,4"}, {{A::Sizes, {8, 12}}}), "[batch, 3, 8, 12]");
  EXPECT_EQ(inferred(K::Upsample, {"batch,3,4,4"}), "upsample needs 'sizes', the output's extent");
  EXPECT_EQ(inferred(K::Upsample, {"batch,3"}, {{A::Sizes, {8}}}),
            "upsample needs batch, channels and space");
}

TEST(UnaryOperators, KeepTheShapeOfTheirOneInput) {
  for (const Kind kind :
       {K::Identity,    K::Detach,     K::Contiguous, K::Cast,     K::Roll,  K::Relu,
        K::Relu6,       K::LeakyRelu,  K::Gelu,       K::Silu,     K::Mish,  K::Sigmoid,
        K::HardSigmoid, K::HardSwish,  K::Tanh,       K::Softplus, K::Elu,   K::Exp,
        K::Log,         K::Sqrt,       K::Rsqrt,      K::Pow,      K::Neg,   K::Abs,
        K::Erf,         K::Sin,        K::Cos,        K::Scale,    K::Shift, K::Clip,
        K::Softmax,     K::LogSoftmax, K::CumSum}) {
    EXPECT_EQ(inferred(kind, {"batch,3"}), "[batch, 3]") << op(kind).name;
    EXPECT_EQ(inferred(kind, {"3", "3"}), "takes 1 inputs, has 2") << op(kind).name;
  }
}

}  // namespace
}  // namespace foretrain::graph
