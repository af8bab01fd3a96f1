// SPDX-License-Identifier: Apache-2.0
// Counts by hand; a multiply-add is two FLOPs, a number is 4 bytes.
#include <gtest/gtest.h>

#include "foretrain/graph/backward.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"

namespace foretrain::graph {
namespace {

// The work of the last node for a batch of 2.
Work last_work(Builder& builder) {
  const Graph graph = builder.finish();
  const Bound bound = bind(graph, {{"batch", 2}});
  return work({bound, graph.nodes.back()});
}

Work work_of(Kind kind, const std::vector<Shape>& inputs, const Attributes& attributes = {}) {
  Builder builder("m");
  std::vector<TensorId> ids;
  for (const Shape& shape : inputs) ids.push_back(builder.input("x", shape));
  builder.add(kind, ids, attributes);
  return last_work(builder);
}

const Dim kBatch = symbol(0);

// 2 * 2*5*8*8 outputs * 3*3*3 products = 34,560; reads 2*3*8*8 + 5*3*3*3, writes 2*5*8*8.
TEST(WorkOf, AConvolution) {
  const Work work = work_of(Kind::Conv, {{kBatch, 3, 8, 8}, {5, 3, 3, 3}}, {{Attr::Padding, {1}}});
  EXPECT_EQ(work.flops, 34560);
  EXPECT_EQ(work.vector_flops, 0);
  EXPECT_EQ(work.read_bytes, 4 * (384 + 135));
  EXPECT_EQ(work.written_bytes, 4 * 640);
}

TEST(WorkOf, AConvolutionsBiasIsOneAdditionPerOutput) {
  const Work work =
      work_of(Kind::Conv, {{kBatch, 3, 8, 8}, {5, 3, 3, 3}, {5}}, {{Attr::Padding, {1}}});
  EXPECT_EQ(work.flops, 34560);
  EXPECT_EQ(work.vector_flops, 640);
}

// Each output sums over its group's 4 / 2 = 2 channels: 2 * 2*6*8*8 * 2*3*3 = 27,648.
TEST(WorkOf, AGroupedConvolution) {
  const Work work = work_of(Kind::Conv, {{kBatch, 4, 8, 8}, {6, 2, 3, 3}},
                            {{Attr::Padding, {1}}, {Attr::Groups, {2}}});
  EXPECT_EQ(work.flops, 27648);
}

// Each of 2*4*5*5 inputs meets 3 output channels * 2*2 window: 2 * 200 * 12 = 4800.
TEST(WorkOf, ATransposedConvolution) {
  const Work work = work_of(Kind::Conv, {{kBatch, 4, 5, 5}, {4, 3, 2, 2}},
                            {{Attr::Transposed, {1}}, {Attr::Stride, {2}}});
  EXPECT_EQ(work.flops, 4800);
  EXPECT_EQ(work.written_bytes, 4 * 2 * 3 * 10 * 10);
}

// 2 * (2*7*5 outputs) * 3 = 420.
TEST(WorkOf, ALinearLayer) {
  const Work work = work_of(Kind::Linear, {{kBatch, 7, 3}, {5, 3}, {5}});
  EXPECT_EQ(work.flops, 420);
  EXPECT_EQ(work.vector_flops, 70);
  EXPECT_EQ(work.read_bytes, 4 * (42 + 15 + 5));
  EXPECT_EQ(work.written_bytes, 4 * 70);
}

// 2 * (2*4*3*5 outputs) * 6, whichever way the matrices are stored.
TEST(WorkOf, AMatrixProduct) {
  EXPECT_EQ(work_of(Kind::MatMul, {{kBatch, 4, 3, 6}, {kBatch, 4, 6, 5}}).flops, 1440);
  EXPECT_EQ(work_of(Kind::MatMul, {{kBatch, 4, 6, 3}, {kBatch, 4, 6, 5}}, {{Attr::TransposeA, {1}}})
                .flops,
            1440);
  EXPECT_EQ(work_of(Kind::MatMul, {{kBatch, 4, 3, 6}, {kBatch, 4, 5, 6}}, {{Attr::TransposeB, {1}}})
                .flops,
            1440);
}

// Scores: 2 * 2*4*3*5 * 8; values: 2 * 2*4*3*6 * 5. Together 1920 + 1440 = 3360.
TEST(WorkOf, Attention) {
  const Work work =
      work_of(Kind::Attention, {{kBatch, 4, 3, 8}, {kBatch, 4, 5, 8}, {kBatch, 4, 5, 6}});
  EXPECT_EQ(work.flops, 3360);
}

// Two layers of an LSTM, 3 steps, batch 2: 2 * 6 * (16*5 + 16*4 + 16*4 + 16*4) = 3264.
TEST(WorkOf, AnLstm) {
  const Work work = work_of(
      Kind::Recurrent, {{3, kBatch, 5}, {16, 5}, {16, 4}, {16}, {16}, {16, 4}, {16, 4}, {16}, {16}},
      {{Attr::Gates, {4}}, {Attr::Hidden, {4}}, {Attr::Layers, {2}}});
  EXPECT_EQ(work.flops, 3264);
}

// The 6 rows that are looked up are read, not the table; the indices are 6 numbers of 8 bytes.
TEST(WorkOf, AnEmbeddingReadsOnlyItsRows) {
  Builder builder("m");
  const TensorId ids = builder.input("ids", {kBatch, 3}, DType::I64);
  builder.add(Kind::Embedding, {ids, builder.parameter("table", {1000, 8})});
  const Work work = last_work(builder);
  EXPECT_EQ(work.read_bytes, 6 * 8 * 4 + 6 * 8);
  EXPECT_EQ(work.written_bytes, 6 * 8 * 4);
}

TEST(WorkOf, AViewIsNone) {
  for (const Kind kind : {Kind::Reshape, Kind::Expand}) {
    const Work work = work_of(kind, {{kBatch, 6}}, {{Attr::Shape, {kBatch, 6}}});
    EXPECT_EQ(work.read_bytes + work.written_bytes + work.flops + work.vector_flops, 0);
  }
}

// 12 numbers and a row of 6 in, 12 out.
TEST(WorkOf, AnAdditionIsOneOperationPerElement) {
  const Work work = work_of(Kind::Add, {{kBatch, 6}, {6}});
  EXPECT_EQ(work.flops, 0);
  EXPECT_EQ(work.vector_flops, 12);
  EXPECT_EQ(work.read_bytes, 4 * 18);
  EXPECT_EQ(work.written_bytes, 4 * 12);
}

// Statistics first, then values: x is read twice, unless the statistics are known.
TEST(WorkOf, ABatchNormReadsItsInputTwice) {
  const double x = 4 * 2 * 4 * 9;
  const Work training = work_of(Kind::BatchNorm, {{kBatch, 4, 9}, {4}, {4}});
  EXPECT_EQ(training.read_bytes, 2 * x + 4 * 8);
  EXPECT_EQ(training.written_bytes, x + 4 * 8);
  const Work frozen = work_of(Kind::BatchNorm, {{kBatch, 4, 9}, {4}, {4}}, {{Attr::Frozen, {1}}});
  EXPECT_EQ(frozen.read_bytes, x + 4 * 8);
}

// Mask of one byte per element.
TEST(WorkOf, ADropoutWritesAMask) {
  EXPECT_EQ(work_of(Kind::Dropout, {{kBatch, 6}}).written_bytes, 12 * 4 + 12);
}

// Adam reads parameter, gradient and two moments, and writes all but the gradient: 10 values.
TEST(WorkOf, AnUpdateOfAdam) {
  Builder builder("m");
  const TensorId x = builder.input("x", {kBatch, 5});
  builder.output(builder.add(Kind::Linear, {x, builder.parameter("w", {2, 5})}));
  const Graph step = update(backward(builder.finish()), Optimizer::Adam);
  const Bound bound = bind(step, {{"batch", 2}});
  const Work update_work = work({bound, step.nodes.back()});
  EXPECT_EQ(update_work.read_bytes, 4 * 4 * 10);
  EXPECT_EQ(update_work.written_bytes, 3 * 4 * 10);
}

TEST(WorkOf, ShortTypesMoveFewerBytes) {
  Builder builder("m");
  builder.add(Kind::Relu, {builder.input("x", {kBatch, 6}, DType::F16)});
  const Work work = last_work(builder);
  EXPECT_EQ(work.read_bytes, 24);
  EXPECT_EQ(work.written_bytes, 24);
}

// Every GEMM is linear in the batch.
TEST(WorkOf, GrowsInProportionToTheBatch) {
  Builder builder("m");
  const TensorId x = builder.input("x", {kBatch, 3, 8, 8});
  const TensorId y = builder.add(Kind::Conv, {x, builder.parameter("c", {4, 3, 3, 3})});
  const TensorId flat = builder.add(Kind::Reshape, {y}, {{Attr::Shape, {0, -1}}});
  builder.add(Kind::Linear, {flat, builder.parameter("w", {5, 144})});
  const Graph graph = builder.finish();
  const auto flops = [&](std::int64_t batch) {
    const Bound bound = bind(graph, {{"batch", batch}});
    double sum = 0;
    for (const Node& node : graph.nodes) sum += work({bound, node}).flops;
    return sum;
  };
  EXPECT_EQ(flops(12), 12 * flops(1));
}

}  // namespace
}  // namespace foretrain::graph
