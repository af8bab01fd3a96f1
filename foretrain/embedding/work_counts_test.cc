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
  EXPECT_EQ(counts.matrix_flops, 2 * 2048 * 1000);
  EXPECT_EQ(counts.grouped_flops, 0);
  EXPECT_EQ(counts.depthwise_flops, 0);
  EXPECT_GT(counts.moved_bytes, 0);
}

TEST(WorkCounts, TellsGroupsApart) {
  EXPECT_GT(count_work(zoo::build("resnext50_32x4d")).grouped_flops, 0);
  EXPECT_EQ(count_work(zoo::build("resnext50_32x4d")).depthwise_flops, 0);
  const WorkCounts mobile = count_work(zoo::build("mobilenet_v2"));
  EXPECT_GT(mobile.depthwise_flops, 0);
  EXPECT_EQ(mobile.grouped_flops, 0);
  EXPECT_GT(mobile.conv_flops, mobile.depthwise_flops);
}

// A table of 50,000 rows of which eight are read: the rest moves no bytes, and takes none away.
TEST(WorkCounts, OfALookUpAreTheRowsThatItReads) {
  const WorkCounts counts =
      count_work(zoo::build("gpt:layers=1,hidden=64,heads=4,seq=8,vocab=50000"));
  EXPECT_GT(counts.moved_bytes, 0);
}

TEST(WorkCounts, OfATransformerAreMatrices) {
  const WorkCounts counts = count_work(zoo::build("bert-base"));
  EXPECT_EQ(counts.conv_flops, 0);
  EXPECT_GT(counts.matrix_flops, 1e9);
}

}  // namespace
}  // namespace foretrain::embedding
