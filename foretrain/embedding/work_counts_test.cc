// SPDX-License-Identifier: Apache-2.0
#include "foretrain/embedding/work_counts.h"

#include <gtest/gtest.h>

#include "foretrain/zoo/zoo.h"

namespace foretrain::embedding {
namespace {

// torchvision: 25,557,032 parameters, 4.09 G multiply-adds; only convolutions of one group and one
// linear layer of 2048 x 1000.
TEST(WorkCounts, OfResnet50) {
  const WorkCounts counts = count_work(zoo::build("resnet50"));
  EXPECT_EQ(counts.parameters, 25'557'032);
  EXPECT_NEAR(forward_flops(counts), 2 * 4.09e9, 0.02e9);
  EXPECT_EQ(counts.matrix.flops, 2 * 2048 * 1000);
  EXPECT_EQ(counts.grouped.flops, 0);
  EXPECT_EQ(counts.depthwise.flops, 0);
  // 16 blocks of a 3 x 3 convolution and the first of 7 x 7; two of 1 x 1 in each block and four
  // shortcuts: 1.96 and 2.13 G multiply-adds.
  EXPECT_NEAR(counts.conv.flops + counts.pointwise_conv.flops,
              forward_flops(counts) - counts.matrix.flops, 1);
  EXPECT_NEAR(counts.conv.flops / counts.pointwise_conv.flops, 0.92, 0.1);
  EXPECT_GT(counts.pointwise_bytes, 0);
}

// A batch norm reads and writes 4 bytes of each of its values, and a ReLU as many.
TEST(WorkCounts, TellsNormsFromPointwiseOperators) {
  const WorkCounts counts = count_work(zoo::build("resnet50"));
  EXPECT_GT(counts.norm_bytes, counts.pointwise_bytes * 0.5);
  EXPECT_LT(counts.norm_bytes, counts.pointwise_bytes * 2);
  EXPECT_LT(counts.other_bytes, 0.1 * counts.norm_bytes);
}

TEST(WorkCounts, TellsGroupsApart) {
  EXPECT_GT(count_work(zoo::build("resnext50_32x4d")).grouped.flops, 0);
  EXPECT_EQ(count_work(zoo::build("resnext50_32x4d")).depthwise.flops, 0);
  const WorkCounts mobile = count_work(zoo::build("mobilenet_v2"));
  EXPECT_GT(mobile.depthwise.flops, 0);
  EXPECT_EQ(mobile.grouped.flops, 0);
  EXPECT_GT(mobile.pointwise_conv.flops, mobile.depthwise.flops);
}

// A table of 50,000 rows of which eight are read: the rest moves no bytes, and takes none away.
TEST(WorkCounts, OfALookUpAreTheRowsThatItReads) {
  const WorkCounts counts =
      count_work(zoo::build("gpt:layers=1,hidden=64,heads=4,seq=8,vocab=50000"));
  EXPECT_GT(counts.other_bytes, 0);
  EXPECT_LT(counts.other_bytes, 4.0 * 50000 * 64);
}

// What does not grow with the batch counts once per step: a position table that is added to every
// sample is read once, and its gradient's sum is no part of the forward pass.
TEST(WorkCounts, TellWhatIsFixed) {
  const WorkCounts counts = count_work(zoo::build("vit_b_16"));
  EXPECT_GT(counts.fixed_bytes, 0);
  EXPECT_LT(counts.fixed_bytes, 0.1 * counts.pointwise_bytes);
}

TEST(WorkCounts, OfATransformerAreMatrices) {
  const WorkCounts counts = count_work(zoo::build("bert-base"));
  EXPECT_EQ(counts.conv.flops, 0);
  EXPECT_GT(counts.matrix.flops, 1e9);
}

}  // namespace
}  // namespace foretrain::embedding
