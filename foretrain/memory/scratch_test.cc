// SPDX-License-Identifier: Apache-2.0
#include "foretrain/memory/detail/scratch.h"

#include <gtest/gtest.h>

#include "foretrain/graph/backward.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"

namespace foretrain::memory {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Graph;
using graph::Kind;
using graph::TensorId;

// x [batch, 4, 8, 8] through a kernel of [16, 4 / groups, k, k] that keeps the size.
Graph convolution(std::int64_t k, const Attributes& attributes, std::int64_t groups = 1) {
  Builder builder("conv");
  const TensorId x = builder.input("x", {builder.batch(), 4, 8, 8});
  const TensorId w = builder.parameter("w", {16, 4 / groups, k, k});
  builder.output(builder.add(Kind::Conv, {x, w}, attributes));
  return builder.finish();
}

double first_scratch(const Graph& graph, const Options& options) {
  const graph::Bound bound = graph::bind(graph, {{"batch", 2}});
  for (const graph::Node& node : graph.nodes) {
    if (graph::op(node).family == graph::Family::Convolution) {
      return scratch_bytes({bound, node}, options);
    }
  }
  return 0;
}

const Attributes kSame{{Attr::Padding, {1}}};

// x: 2*4*8*8*4 B = 2048, y: 2*16*8*8*4 B = 8192, w: 16*4*9*4 B = 2304:
// 2.25 (2048 + 8192) + 4 * 2304 = 23040 + 9216 = 32256.
TEST(ScratchBytes, WinogradTransformsInputOutputAndKernel) {
  EXPECT_EQ(first_scratch(convolution(3, kSame), {}), 32256);
}

// Images of 6 x 5 need 2 x 2 tiles of 4 x 4: 4 * 36 = 144 values for 30. x is 2*4*30*4 B = 960, y
// 3840: 144 / 30 * 4800 + 9216 = 32256.
TEST(ScratchBytes, WinogradsTilesReachOverTheEdge) {
  Builder builder("conv");
  const TensorId x = builder.input("x", {builder.batch(), 4, 6, 5});
  builder.output(builder.add(Kind::Conv, {x, builder.parameter("w", {16, 4, 3, 3})}, kSame));
  EXPECT_DOUBLE_EQ(first_scratch(builder.finish(), {}), 32256);
}

TEST(ScratchBytes, BackwardConvolutionsNeedAsMuch) {
  Builder builder("conv");
  const TensorId x = builder.input("x", {builder.batch(), 4, 8, 8});
  const TensorId v = builder.parameter("v", {4, 4, 1, 1});
  const TensorId w = builder.parameter("w", {16, 4, 3, 3});
  builder.output(builder.add(Kind::Conv, {builder.add(Kind::Conv, {x, v}), w}, kSame));
  const Graph step = graph::backward(builder.finish());
  const graph::Bound bound = graph::bind(step, {{"batch", 2}});
  int found = 0;
  for (const graph::Node& node : step.nodes) {
    const bool gradient = node.kind == Kind::ConvInputGrad || node.kind == Kind::ConvWeightGrad;
    if (!gradient || node.attributes.number(Attr::Padding, 0) != 1) continue;
    EXPECT_EQ(scratch_bytes({bound, node}, {}), 32256);
    ++found;
  }
  EXPECT_EQ(found, 2);
}

TEST(ScratchBytes, WinogradNeedsThreeByThreeStrideOneAndAllChannels) {
  EXPECT_EQ(first_scratch(convolution(1, {}), {}), 0);
  EXPECT_EQ(first_scratch(convolution(3, {{Attr::Padding, {1}}, {Attr::Stride, {2}}}), {}), 0);
  EXPECT_EQ(first_scratch(convolution(3, {{Attr::Padding, {2}}, {Attr::Dilation, {2}}}), {}), 0);
  EXPECT_EQ(first_scratch(convolution(3, {{Attr::Padding, {1}}, {Attr::Groups, {4}}}, 4), {}), 0);
}

// All three in fp16: (2048 + 8192 + 2304) / 2 = 6272.
TEST(ScratchBytes, TensorCoresCopyToChannelsLast) {
  const Graph half =
      graph::set_precision(convolution(3, kSame), Precision::Fp16, graph::Casting::WholeModel);
  EXPECT_EQ(first_scratch(half, {}), 6272);
  EXPECT_EQ(first_scratch(half, {.channels_last = true}), 0);
  EXPECT_EQ(first_scratch(convolution(3, kSame), {.tensor_core_fp32 = true}), 12544);
}

TEST(ScratchBytes, IsNoneUnlessSearchedFor) {
  EXPECT_EQ(first_scratch(convolution(3, kSame), {.search_workspace = false}), 0);
}

// q of [2, 3, 8, 16] and one value for each of its 2 * 3 * 8 rows, all in fp32.
TEST(ScratchBytes, FlashAttentionSumsTheQuerysGradientInFp32) {
  Builder builder("attention");
  const TensorId w = builder.parameter("w", {16});
  const graph::Shape shape{builder.batch(), 3, 8, 16};
  const TensorId q = builder.add(Kind::Mul, {builder.input("q", shape), w});
  builder.output(builder.add(Kind::Attention, {q, q, q}));
  const Graph model = builder.finish();
  for (const auto& [precision, expected] :
       {std::pair{Precision::Bf16, 4.0 * (768 + 48)}, std::pair{Precision::Fp32, 0.0}}) {
    const Graph step =
        graph::backward(graph::set_precision(model, precision, graph::Casting::WholeModel));
    const graph::Bound bound = graph::bind(step, {{"batch", 2}});
    for (const graph::Node& node : step.nodes) {
      if (node.kind == Kind::AttentionGrad) {
        EXPECT_EQ(scratch_bytes({bound, node}, {}), expected);
      }
    }
  }
}

}  // namespace
}  // namespace foretrain::memory
