// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/graph/test_shapes.h"

namespace foretrain::graph {
namespace {

using K = Kind;
using A = Attr;

TEST(Linear, ReplacesTheLastDimension) {
  EXPECT_EQ(inferred(K::Linear, {"batch,seq,8", "16,8"}), "[batch, seq, 16]");
  EXPECT_EQ(inferred(K::Linear, {"batch,8", "16,8", "16"}), "[batch, 16]");
  EXPECT_EQ(inferred(K::Linear, {"8", "16,8"}), "[16]");
  EXPECT_EQ(inferred(K::Linear, {"batch,9", "16,8"}),
            "the last dimension differs from the weight's second");
  EXPECT_EQ(inferred(K::Linear, {"batch,8", "16,8", "8"}),
            "the bias does not have one value per output channel");
  EXPECT_EQ(inferred(K::Linear, {"batch,8", "16,8,1"}),
            "linear takes [..., k] and a weight of [n, k]");
  EXPECT_EQ(inferred(K::Linear, {"batch,8"}), "takes 2 to 3 inputs, has 1");
}

TEST(MatMul, MultipliesMatricesAndBroadcastsTheRest) {
  EXPECT_EQ(inferred(K::MatMul, {"batch,2,3,4", "batch,2,4,5"}), "[batch, 2, 3, 5]");
  EXPECT_EQ(inferred(K::MatMul, {"batch,2,3,4", "4,5"}), "[batch, 2, 3, 5]");
  EXPECT_EQ(inferred(K::MatMul, {"batch,1,3,4", "7,4,5"}), "[batch, 7, 3, 5]");
  EXPECT_EQ(inferred(K::MatMul, {"4,3", "5,4"}, {{A::TransposeA, {1}}, {A::TransposeB, {1}}}),
            "[3, 5]");
  EXPECT_EQ(inferred(K::MatMul, {"3,4", "5,4"}), "the inner dimensions differ");
  EXPECT_EQ(inferred(K::MatMul, {"2,3,4", "3,4,5"}), "shapes of the inputs do not broadcast");
  EXPECT_EQ(inferred(K::MatMul, {"4", "4,5"}), "matmul takes tensors of rank 2 or more");
}

// (224 + 2*3 - 7) / 2 + 1 = 112; with dilation 2 a kernel of 3 reaches over 5: 8 - 5 + 1 = 4.
TEST(Conv, MovesItsWindowOverSpace) {
  EXPECT_EQ(
      inferred(K::Conv, {"batch,3,224,224", "64,3,7,7"}, {{A::Stride, {2}}, {A::Padding, {3}}}),
      "[batch, 64, 112, 112]");
  EXPECT_EQ(inferred(K::Conv, {"batch,3,8,8", "4,3,3,3"}, {{A::Dilation, {2}}}),
            "[batch, 4, 4, 4]");
  EXPECT_EQ(inferred(K::Conv, {"batch,3,8", "4,3,3", "4"}), "[batch, 4, 6]");
  EXPECT_EQ(inferred(K::Conv, {"batch,3,4,8,8", "4,3,3,1,1"}), "[batch, 4, 2, 8, 8]");
  EXPECT_EQ(inferred(K::Conv, {"batch,6,8,8", "4,3,1,1"}, {{A::Groups, {2}}}), "[batch, 4, 8, 8]");
}

// Rows: 8 + 0 + 1 - 3 + 1 = 7; columns: 8 + 2 + 3 - 3 + 1 = 11. All before, then all after.
TEST(Conv, PadsEachSideOnItsOwn) {
  EXPECT_EQ(inferred(K::Conv, {"batch,3,8,8", "4,3,3,3"}, {{A::Padding, {0, 2, 1, 3}}}),
            "[batch, 4, 7, 11]");
  EXPECT_EQ(
      inferred(K::Conv, {"batch,3,8,8", "4,3,3,3"}, {{A::Stride, {1, 2}}, {A::Padding, {1, 1}}}),
      "[batch, 4, 8, 4]");
}

// (4 - 1)*2 - 2*1 + (3 - 1) + 1 + 1 = 8.
TEST(Conv, TransposedMakesSpaceLarger) {
  EXPECT_EQ(
      inferred(
          K::Conv, {"batch,6,4,4", "6,5,3,3"},
          {{A::Transposed, {1}}, {A::Stride, {2}}, {A::Padding, {1}}, {A::OutputPadding, {1}}}),
      "[batch, 5, 8, 8]");
  EXPECT_EQ(inferred(K::Conv, {"batch,6,4,4", "6,5,2,2"}, {{A::Transposed, {1}}, {A::Groups, {3}}}),
            "[batch, 15, 5, 5]");
  EXPECT_EQ(
      inferred(K::Conv, {"batch,1,1,1", "1,1,1,1"}, {{A::Transposed, {1}}, {A::Padding, {1}}}),
      "the transposed window leaves nothing");
  EXPECT_EQ(inferred(K::Conv, {"batch,1,4,4", "1,1,1,1"},
                     {{A::Transposed, {1}}, {A::Stride, {Dim(1LL << 40)}}}),
            "a window is absurdly large");
}

TEST(Conv, KeepsASymbolOnlyWhereTheWindowKeepsItsSize) {
  EXPECT_EQ(inferred(K::Conv, {"batch,3,seq", "4,3,3"}, {{A::Padding, {1}}}), "[batch, 4, seq]");
  EXPECT_EQ(inferred(K::Conv, {"batch,3,seq", "4,3,3"}),
            "a window changes an axis whose size is a symbol; give the symbol a value");
  EXPECT_EQ(inferred(K::Conv, {"batch,3,seq", "3,4,3"}, {{A::Transposed, {1}}}),
            "a transposed window over an axis whose size is a symbol");
}

TEST(Conv, RefusesWhatDoesNotFit) {
  EXPECT_EQ(inferred(K::Conv, {"batch,3,8,8", "4,2,3,3"}),
            "the input's channels differ from the weight's");
  EXPECT_EQ(inferred(K::Conv, {"batch,3,8,8", "4,3,3"}),
            "conv takes [batch, channels, space...] and a weight of the same rank");
  EXPECT_EQ(inferred(K::Conv, {"batch,3,2,2", "4,3,3,3"}),
            "the window is larger than the padded input");
  EXPECT_EQ(inferred(K::Conv, {"batch,3,8,8", "4,1,3,3"}, {{A::Groups, {3}}}),
            "the groups do not divide the output channels");
  EXPECT_EQ(inferred(K::Conv, {"batch,3,8,8", "4,3,3,3"}, {{A::Groups, {0}}}),
            "the groups do not divide the input channels");
  EXPECT_EQ(inferred(K::Conv, {"batch,3,8,8", "4,3,3,3"}, {{A::Stride, {0}}}),
            "stride, dilation and kernel are at least 1, padding at least 0");
  EXPECT_EQ(inferred(K::Conv, {"batch,3,8,8", "4,3,3,3", "3"}),
            "the bias does not have one value per output channel");
}

// The output, and one statistic per query for the backward pass.
TEST(Attention, AllowsFewerKeyHeadsAndAnotherValueSize) {
  EXPECT_EQ(inferred(K::Attention, {"batch,8,seq,64", "batch,2,seq,64", "batch,2,seq,32"}),
            "[batch, 8, seq, 32] [batch, 8, seq]");
  EXPECT_EQ(inferred(K::Attention, {"batch,8,5,64", "batch,8,7,64", "batch,8,7,64", "8,5,7"}),
            "[batch, 8, 5, 64] [batch, 8, 5]");
}

TEST(Attention, RefusesWhatDoesNotFit) {
  EXPECT_EQ(inferred(K::Attention, {"batch,8,5,64", "batch,3,5,64", "batch,3,5,64"}),
            "key heads do not divide the query heads");
  EXPECT_EQ(inferred(K::Attention, {"batch,8,5,64", "batch,8,5,32", "batch,8,5,64"}),
            "query, key and value do not fit");
  EXPECT_EQ(inferred(K::Attention, {"batch,8,5,64", "batch,8,5,64", "batch,8,6,64"}),
            "key and value differ");
  EXPECT_EQ(inferred(K::Attention, {"batch,5,64", "batch,5,64", "batch,5,64"}),
            "attention takes [batch, heads, length, head size]");
  EXPECT_EQ(inferred(K::Attention, {"batch,8,5,64", "batch,8,7,64", "batch,8,7,64", "8,7,5"}),
            "shapes of the inputs do not broadcast");
  EXPECT_EQ(inferred(K::Attention, {"batch,1,1,64", "batch,1,7,64", "batch,1,7,64", "3,1,7"}),
            "what is added to the scores does not fit [batch, heads, queries, keys]");
}

// Output, last states (h and c of 2 layers), and what is kept: 6*2 - 1 = 11 values per unit.
TEST(Recurrent, KeepsStatesForTheBackwardPass) {
  EXPECT_EQ(inferred(K::Recurrent, {"seq,batch,8", "64,8", "64,16"},
                     {{A::Gates, {4}}, {A::Hidden, {16}}, {A::Layers, {2}}}),
            "[seq, batch, 16] [4, batch, 16] [11, seq, batch, 16]");
  EXPECT_EQ(
      inferred(K::Recurrent, {"batch,seq,8", "48,8", "48,16"},
               {{A::Gates, {3}}, {A::Hidden, {16}}, {A::Directions, {2}}, {A::BatchFirst, {1}}}),
      "[batch, seq, 32] [2, batch, 16] [12, batch, seq, 16]");
  EXPECT_EQ(inferred(K::Recurrent, {"seq,batch,8", "64,8", "64,16"}),
            "recurrent needs 'hidden', 'layers' and 'directions' in range");
  EXPECT_EQ(inferred(K::Recurrent, {"seq,batch,8", "64,8", "64,16"},
                     {{A::Hidden, {16}}, {A::Gates, {2}}}),
            "'gates' is 1, 3 (GRU) or 4 (LSTM)");
  EXPECT_EQ(inferred(K::Recurrent, {"seq,8", "64,8", "64,16"}, {{A::Hidden, {16}}}),
            "recurrent takes [time, batch, features]");
  EXPECT_EQ(inferred(K::Recurrent, {"seq,batch,8"}), "recurrent takes an input and its weights");
}

TEST(Embedding, AppendsTheTablesWidth) {
  EXPECT_EQ(inferred(K::Embedding, {"batch,seq", "50,8"}), "[batch, seq, 8]");
  EXPECT_EQ(inferred(K::Embedding, {"batch,seq", "50"}),
            "embedding takes indices and a table of [rows, width]");
}

}  // namespace
}  // namespace foretrain::graph
