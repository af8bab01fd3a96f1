// SPDX-License-Identifier: Apache-2.0
#include "foretrain/embedding/work_counts.h"

#include <gtest/gtest.h>

#include "foretrain/graph/builder.h"
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
  // Multiply-adds of 3 x 3: 7 stages of 64^2 9 56^2 and their halved and doubled likes, 16 in all,
  // each 115.6 M; of 7 x 7: 3 64 49 112^2, 118 M. What is left of 4,089 M is of 1 x 1.
  EXPECT_NEAR(counts.conv.flops, 2 * (16 * 115.6e6 + 118e6), 1e7);
  EXPECT_NEAR(counts.pointwise_conv.flops, 2 * (4089e6 - 2e6 - 16 * 115.6e6 - 118e6), 1e7);
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

// A weight of 8 x 8 goes through a ReLU, which writes 256 bytes (what it reads is a parameter); the
// linear layer reads these again, and 32 of each sample, and writes 32.
TEST(WorkCounts, TellWhatIsFixed) {
  graph::Builder b("standardised");
  const graph::TensorId x = b.input("x", {b.batch(), 8});
  const graph::TensorId weight = b.add(graph::Kind::Relu, {b.parameter("w", {8, 8})});
  b.output(b.add(graph::Kind::Linear, {x, weight}));
  const WorkCounts counts = count_work(b.finish());
  EXPECT_EQ(counts.fixed_bytes, 256 + 256);
  EXPECT_EQ(counts.matrix.bytes, 32 + 32);
  EXPECT_EQ(counts.pointwise_bytes, 0);
  EXPECT_EQ(counts.written_bytes, 32);
}

// The same batch of four, fixed: a quarter of everything for each sample.
TEST(WorkCounts, OfAFixedBatchAreDivided) {
  graph::Builder b("fixed");
  b.output(b.add(graph::Kind::Linear, {b.input("x", {4, 8}), b.parameter("w", {8, 8})}));
  graph::Graph graph = b.finish();
  graph.symbols.clear();
  const WorkCounts counts = count_work(graph, 4);
  EXPECT_EQ(counts.matrix.flops, 2 * 8 * 8);
  EXPECT_EQ(counts.matrix.bytes, 32 + 32);
  EXPECT_EQ(counts.fixed_bytes, 0);
}

TEST(WorkCounts, OfATransformerAreMatrices) {
  const WorkCounts counts = count_work(zoo::build("bert-base"));
  EXPECT_EQ(counts.conv.flops, 0);
  EXPECT_GT(counts.matrix.flops, 1e9);
}

}  // namespace
}  // namespace foretrain::embedding
