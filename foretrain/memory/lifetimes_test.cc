// SPDX-License-Identifier: Apache-2.0
#include "foretrain/memory/lifetimes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <numeric>

#include "foretrain/graph/backward.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/passes.h"

namespace foretrain::memory {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Graph;
using graph::Kind;
using graph::NodeId;
using graph::TensorId;

const Attributes kInplace{{Attr::Inplace, {1}}};

// 64 -> 32 -> `activation` -> 16 with cross entropy.
Graph perceptron(Kind activation, const Attributes& attributes, bool with_loss) {
  Builder b("perceptron");
  const TensorId x = b.input("x", {b.batch(), 64});
  const TensorId w1 = b.parameter("w1", {32, 64});
  const TensorId b1 = b.parameter("b1", {32});
  const TensorId w2 = b.parameter("w2", {16, 32});
  const TensorId b2 = b.parameter("b2", {16});
  const TensorId h = b.add(activation, {b.add(Kind::Linear, {x, w1, b1})}, attributes);
  const TensorId z = b.add(Kind::Linear, {h, w2, b2});
  b.output(z);
  if (with_loss) {
    const TensorId targets = b.input("targets", {b.batch()}, DType::I64);
    b.loss(b.add(Kind::CrossEntropy, {z, targets}));
  }
  return b.finish();
}

std::vector<Storage> storages_of(const Graph& step, const Options& options = {},
                                 std::int64_t batch = 128) {
  return lifetimes(graph::bind(step, {{"batch", batch}}), options);
}

// Live bytes while each node runs, without what is kept from step to step.
std::vector<std::int64_t> live_bytes(const std::vector<Storage>& storages, std::size_t nodes) {
  std::vector<std::int64_t> live(nodes, 0);
  for (const Storage& s : storages) {
    if (s.last == kForever) continue;
    for (NodeId n = s.born; n <= s.last && n < static_cast<NodeId>(nodes); ++n) {
      live[static_cast<std::size_t>(n)] += s.bytes;
    }
  }
  return live;
}

std::int64_t kept_bytes(const std::vector<Storage>& storages, Part part) {
  std::int64_t bytes = 0;
  for (const Storage& s : storages) {
    if (s.last == kForever && s.part == part) bytes += s.bytes;
  }
  return bytes;
}

// Batch 128, fp32: x 32768 B, targets (int64) 1024; w1 8192, b1 128 -> 512, w2 2048,
// b2 64 -> 512; h and relu's output r 16384 each; z, its log-probabilities p and gradient dz
// 8192 each; scalars 4 -> 512.
//
//  0 linear   h                               16384
//  1 relu     h r                             32768; h is not needed again
//  2 linear   r z                             24576
//  3 loss     r z l p                         33280
//  4 fill     r z l p dl                      33792
//  5 loss'    r z l p dl, dp, dz              50176; p, dl and dp go
//  6 matmul   r z l dz dr                     49664
//  7 matmul   r z l dz dr dw2                 51712
//  8 sum      r z l dz dr dw2 db2             52224; dz goes
//  9 relu'    r z l dr dw2 db2 dh             60416; r, dr go
// 10 matmul   z l dw2 db2 dh dw1              35840
// 11 sum      z l dw2 db2 dh dw1 db1          36352; dh goes
// 12 update   z l dw2 db2 dw1 db1, and Adam's temporaries of 11264: 31232
TEST(Lifetimes, MatchAPerceptronByHand) {
  const Graph step =
      graph::update(graph::backward(perceptron(Kind::Relu, {}, true)), graph::Optimizer::Adam);
  ASSERT_EQ(step.nodes.size(), 13U);
  const std::vector<Storage> storages = storages_of(step);
  EXPECT_EQ(live_bytes(storages, 13),
            (std::vector<std::int64_t>{16384, 32768, 24576, 33280, 33792, 50176, 49664, 51712,
                                       52224, 60416, 35840, 36352, 31232}));
  EXPECT_EQ(kept_bytes(storages, Part::Parameters), 11264);
  EXPECT_EQ(kept_bytes(storages, Part::Activations), 33792);
  EXPECT_EQ(kept_bytes(storages, Part::Optimizer), 2 * 11264);
  EXPECT_EQ(kept_bytes(storages, Part::Gradients), 0);
}

// Before PyTorch 1.10 relu' reads h: 16384 B more from node 2 to node 7, where r is read last, and
// as much afterwards. One in place has overwritten h.
TEST(Lifetimes, AReluThatIsNotInPlaceMayKeepItsInput) {
  const auto live = [](const Attributes& attributes, bool keeps_input) {
    const Graph step = graph::update(graph::backward(perceptron(Kind::Relu, attributes, true)),
                                     graph::Optimizer::Adam);
    return live_bytes(storages_of(step, {.relu_keeps_input = keeps_input}), 13);
  };
  EXPECT_EQ(live({}, true),
            (std::vector<std::int64_t>{16384, 32768, 40960, 49664, 50176, 66560, 66048, 68096,
                                       52224, 60416, 35840, 36352, 31232}));
  EXPECT_EQ(live(kInplace, true), live(kInplace, false));
}

// The peak is at node 9: of its 60416 bytes dw2 and db2, 2560, are gradients of parameters.
TEST(Peak, MatchesAPerceptronByHand) {
  const Graph step =
      graph::update(graph::backward(perceptron(Kind::Relu, {}, true)), graph::Optimizer::Sgd);
  const std::vector<Storage> storages = storages_of(step);
  const PartBytes parts = peak(storages, events(storages));
  EXPECT_EQ(parts, (PartBytes{11264, 2560, 0, 33792 + 60416 - 2560, 0}));
}

// Without a loss nothing is saved: h 16384, then h and r, then r and z (24576).
TEST(Lifetimes, InferenceFreesWhatIsNotNeededAgain) {
  const Graph model = graph::for_inference(perceptron(Kind::Relu, {}, true));
  const std::vector<Storage> storages = storages_of(model);
  EXPECT_EQ(live_bytes(storages, 3), (std::vector<std::int64_t>{16384, 32768, 24576}));
  EXPECT_EQ(kept_bytes(storages, Part::Activations), 32768);  // the targets are not fed
}

TEST(Lifetimes, AnOperatorInPlaceTakesItsInputsMemory) {
  const Graph model = perceptron(Kind::Relu, kInplace, false);
  EXPECT_EQ(live_bytes(storages_of(model), 3), (std::vector<std::int64_t>{16384, 16384, 24576}));
}

// ReLU6's gradient needs its input, so PyTorch clones it before it is overwritten; ReLU's and
// leaky ReLU's in place do with the output.
TEST(Lifetimes, WhatBackwardNeedsIsClonedBeforeItIsOverwritten) {
  const auto after_activation = [](Kind kind) {
    const Graph step = graph::backward(perceptron(kind, kInplace, true));
    return live_bytes(storages_of(step), 2)[1];
  };
  EXPECT_EQ(after_activation(Kind::Relu), 16384);
  EXPECT_EQ(after_activation(Kind::LeakyRelu), 16384);
  EXPECT_EQ(after_activation(Kind::Relu6), 32768);
}

TEST(Lifetimes, ViewsKeepTheMemoryTheyShow) {
  Builder b("views");
  const TensorId x = b.input("x", {b.batch(), 64});
  const TensorId y = b.add(Kind::Exp, {x});  // 128 * 64 * 4 B = 32768
  const TensorId turned = b.add(Kind::Transpose, {y}, {{Attr::Axes, {1, 0}}});
  const TensorId part = b.add(Kind::Slice, {turned}, {{Attr::Axis, {0}}, {Attr::End, {16}}});
  const TensorId other = b.add(Kind::Exp, {x});
  b.output(b.add(Kind::Exp, {part}));  // 8192
  b.output(other);
  EXPECT_EQ(live_bytes(storages_of(b.finish()), 5),
            (std::vector<std::int64_t>{32768, 32768, 32768, 65536, 73728}));
}

// y = tanh(x w) + x w: the gradient of x w arrives from both, and the second is added into the
// first, which by then nobody else holds.
TEST(Lifetimes, GradientsOfSeveralConsumersAreSummedInPlace) {
  Builder b("residual");
  const TensorId x = b.input("x", {b.batch(), 64});
  const TensorId w = b.parameter("w", {64, 64});
  const TensorId y = b.add(Kind::Linear, {x, w});
  b.output(b.add(Kind::Exp, {b.add(Kind::Add, {b.add(Kind::Tanh, {y}), y})}));
  const Graph step = graph::backward(b.finish());
  const auto sum = std::find_if(step.nodes.begin(), step.nodes.end(), [](const auto& node) {
    return node.kind == Kind::Add && node.phase == graph::Phase::Backward;
  });
  ASSERT_NE(sum, step.nodes.end());
  const auto at = static_cast<NodeId>(sum - step.nodes.begin());
  for (const Storage& s : storages_of(step)) EXPECT_NE(s.born, at);
}

// A fused kernel lays its output out as the next layer wants it, so the copy is none; without
// the kernel it is one.
TEST(Lifetimes, FusedAttentionNeedsNoCopyToMergeHeads) {
  Builder b("attention");
  const TensorId q = b.input("q", {b.batch(), 4, 16, 8});
  const TensorId y = b.add(Kind::Attention, {q, q, q});
  const TensorId turned = b.add(Kind::Transpose, {y}, {{Attr::Axes, {0, 2, 1, 3}}});
  b.output(b.add(Kind::Contiguous, {turned}));
  const Graph model = b.finish();
  const auto born_last = [](const Graph& graph) {
    const auto last = static_cast<NodeId>(graph.nodes.size()) - 1;
    const std::vector<Storage> storages = storages_of(graph);
    return std::count_if(storages.begin(), storages.end(),
                         [&](const Storage& s) { return s.born == last; });
  };
  EXPECT_EQ(born_last(model), 0);
  EXPECT_EQ(born_last(graph::expand_attention(model)), 1);
}

// Autocast keeps the half-precision copies until forward ends. w2's is needed by its layer's
// backward; w1's is not, since x wants no gradient.
TEST(Lifetimes, ShortCopiesOfWeightsStayUntilForwardEnds) {
  const Graph step = graph::backward(graph::set_precision(
      perceptron(Kind::Relu, {}, true), Precision::Fp16, graph::Casting::Automatic));
  const std::vector<Storage> storages = storages_of(step);
  const auto last_use_of_copy = [&](const std::string& parameter) {
    for (const Storage& s : storages) {
      if (s.born < 0) continue;
      const graph::Node& node = step.nodes[static_cast<std::size_t>(s.born)];
      if (node.kind == Kind::Cast && step.tensor(node.inputs[0]).name == parameter) return s.last;
    }
    return kBeforeStep;
  };
  NodeId forward_end = 0;
  for (std::size_t n = 0; n < step.nodes.size(); ++n) {
    if (step.nodes[n].phase == graph::Phase::Forward) forward_end = static_cast<NodeId>(n);
  }
  EXPECT_EQ(last_use_of_copy("w1"), forward_end);
  EXPECT_GT(last_use_of_copy("w2"), forward_end);
}

// Zeroed instead of dropped: the old gradients are kept, new ones last until they are added.
TEST(Lifetimes, AccumulatedGradientsAreKept) {
  const Graph step =
      graph::backward(perceptron(Kind::Relu, {}, true), graph::GradientHandling::Accumulate);
  const std::vector<Storage> storages = storages_of(step);
  EXPECT_EQ(kept_bytes(storages, Part::Gradients), 11264);
  for (const Storage& s : storages) {
    EXPECT_TRUE(s.last == kForever || s.part == Part::Activations);
  }
}

// The strategy's buffers are there whatever the step does: 10240 is a multiple of 512, 192 becomes
// one.
TEST(Lifetimes, FlatBuffersAreAlwaysThere) {
  const Graph step = graph::backward(perceptron(Kind::Relu, {}, true));
  const std::vector<Storage> storages = storages_of(step, {.flat_buffers = {10240, 192}});
  EXPECT_EQ(kept_bytes(storages, Part::Gradients), 10240 + 512);
}

// 32*64 + 32 + 16*32 + 16 parameters: 4096 + 64 + 1024 + 32 B in half precision (rounded
// 4096 + 512 + 1024 + 512 = 6144), and fp32 copies of 11264 beside the momentum's.
TEST(Lifetimes, HalfPrecisionParametersHaveMastersInFp32) {
  const Graph step = graph::update(
      graph::backward(graph::set_precision(perceptron(Kind::Relu, {}, true), Precision::Bf16,
                                           graph::Casting::WholeModel)),
      graph::Optimizer::Momentum);
  const std::vector<Storage> storages = storages_of(step, {.half_with_master = true});
  EXPECT_EQ(kept_bytes(storages, Part::Parameters), 6144);
  EXPECT_EQ(kept_bytes(storages, Part::Optimizer), 2 * 11264);
}

// 2608 parameters: a flat copy of their gradients in 16 bits takes 5216 B, 5632 as the allocator
// counts, and in fp32 10432, 10752; both lie beside each other. Nothing else comes with the update.
TEST(Lifetimes, AFlatUpdateCopiesAndCastsItsGradients) {
  const Graph step = graph::update(
      graph::backward(graph::set_precision(perceptron(Kind::Relu, {}, true), Precision::Fp16,
                                           graph::Casting::WholeModel)),
      graph::Optimizer::Adam);
  std::vector<std::int64_t> brief;
  for (const Storage& s : storages_of(step, {.half_with_master = true, .flat_update = true})) {
    if (s.part == Part::Optimizer && s.last != kForever) brief.push_back(s.bytes);
  }
  EXPECT_EQ(brief, (std::vector<std::int64_t>{5632 + 10752}));
}

// Three micro-batches and 1000 B of a fourth: each keeps its own blocks, of the same sizes.
TEST(Lifetimes, OtherMicroBatchesKeepBlocksOfTheirOwn) {
  const Graph step = graph::backward(perceptron(Kind::Relu, {}, true));
  const std::vector<Storage> alone = storages_of(step);
  graph::NodeId forward = 0;
  while (step.nodes[static_cast<std::size_t>(forward)].phase == graph::Phase::Forward) ++forward;
  const double own = kept_for_backward(alone, step, 0, forward);
  ASSERT_GT(own, 1000);
  const auto bytes = [](const std::vector<Storage>& storages) {
    double sum = 0;
    for (const Storage& s : storages) sum += static_cast<double>(s.bytes);
    return sum;
  };
  const std::vector<Storage> held = storages_of(step, {.held_bytes = 3 * own + 1000});
  EXPECT_EQ(bytes(held), bytes(alone) + 3 * own + 1024);
  EXPECT_EQ(kept_for_backward(held, step, 0, forward), 4 * own + 1024);
}

// Without a caching allocator nothing is rounded, and the optimizer goes through its
// parameters one by one: two temporaries of the largest, 8192.
TEST(Lifetimes, ACpuCountsExactBytes) {
  const Graph step =
      graph::update(graph::backward(perceptron(Kind::Relu, {}, true)), graph::Optimizer::Adam);
  const std::vector<Storage> storages = storages_of(step, {.caching_allocator = false});
  EXPECT_EQ(kept_bytes(storages, Part::Parameters), 10432);
  const std::int64_t left = 8192 + 4 + 10432;  // z, the loss, gradients
  EXPECT_EQ(live_bytes(storages, 13).back(), left + 2 * 8192);
}

// What is asked for is given back, except what is kept.
TEST(Events, BalanceOverAStep) {
  const Graph step =
      graph::update(graph::backward(perceptron(Kind::Relu, {}, true)), graph::Optimizer::Adam);
  const std::vector<Storage> storages = storages_of(step);
  std::vector<int> held(storages.size(), 0);
  for (const std::int32_t event : events(storages)) {
    const auto i = static_cast<std::size_t>(event >= 0 ? event : ~event);
    held[i] += event >= 0 ? 1 : -1;
    ASSERT_TRUE(held[i] == 0 || held[i] == 1);
  }
  for (std::size_t i = 0; i < storages.size(); ++i) {
    EXPECT_EQ(held[i], storages[i].last == kForever ? 1 : 0);
  }
}

// x of 128 rows of 64 halves is 16384 B, as are h, the norm's y and z. At the end of forward are
// live: z (a result), y (for the last weights), and for the norm either h (16384) or, written as
// operators, an fp32 copy of it (32768) and the normalised values (16384) for its weights.
TEST(Lifetimes, AnRmsNormOfOperatorsKeepsACopy) {
  Builder b("norm");
  const TensorId x = b.input("x", {b.batch(), 64});
  const TensorId h = b.add(Kind::Linear, {x, b.parameter("w1", {64, 64})});
  const TensorId y = b.add(Kind::RmsNorm, {h, b.parameter("g", {64})});
  b.output(b.add(Kind::Linear, {y, b.parameter("w2", {64, 64})}));
  const Graph step = graph::backward(
      graph::set_precision(b.finish(), Precision::Bf16, graph::Casting::WholeModel));
  const auto at_end_of_forward = [&](bool composed) {
    Options options;
    options.composed_rms_norm = composed;
    NodeId last = 0;
    for (std::size_t n = 0; n < step.nodes.size(); ++n) {
      if (step.nodes[n].phase == graph::Phase::Forward) last = static_cast<NodeId>(n);
    }
    return live_bytes(storages_of(step, options),
                      step.nodes.size())[static_cast<std::size_t>(last)];
  };
  EXPECT_EQ(at_end_of_forward(true) - at_end_of_forward(false), 32768);
}

// Nodes on vectors of 512 and 1024 floats: shards of 256 (1024 B) are gathered into wholes of 512.
struct Vectors {
  TensorId add(std::int64_t size, graph::Role role) {
    graph::Tensor tensor;
    tensor.shape = {graph::Dim(size)};
    tensor.role = role;
    graph.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(graph.tensors.size()) - 1;
  }
  void run(Kind kind, graph::Phase phase, std::vector<TensorId> in, std::vector<TensorId> out) {
    graph::Node node;
    node.kind = kind;
    node.phase = phase;
    node.inputs = std::move(in);
    node.outputs = std::move(out);
    graph.nodes.push_back(std::move(node));
  }
  Graph graph;
};

// Two wholes of 2048 B lie in one buffer, which is needed until the second is read by node 2.
TEST(Collectives, GatheredParametersLieInOneBuffer) {
  using graph::Phase;
  using graph::Role;
  Vectors v;
  const TensorId a = v.add(256, Role::Parameter);
  const TensorId b = v.add(256, Role::Parameter);
  const TensorId whole_a = v.add(512, Role::Activation);
  const TensorId whole_b = v.add(512, Role::Activation);
  const TensorId y = v.add(512, Role::Activation);
  const TensorId z = v.add(512, Role::Activation);
  v.run(Kind::AllGather, Phase::Update, {a, b}, {whole_a, whole_b});
  v.run(Kind::Relu, Phase::Forward, {whole_a}, {y});
  v.run(Kind::Relu, Phase::Forward, {whole_b}, {z});
  v.run(Kind::Neg, Phase::Forward, {z}, {v.add(512, Role::Activation)});
  const std::vector<Storage> storages = storages_of(v.graph);
  const auto gathered =
      std::find_if(storages.begin(), storages.end(), [](const Storage& s) { return s.born == 0; });
  ASSERT_NE(gathered, storages.end());
  EXPECT_EQ(gathered->bytes, 4096);
  EXPECT_EQ(gathered->last, 2);
  EXPECT_EQ(gathered->part, Part::Parameters);
  EXPECT_EQ(kept_bytes(storages, Part::Parameters), 2048);
}

// What the first scatter sends is there until the second one begins at node 4.
TEST(Collectives, WhatIsSentStaysUntilTheNext) {
  using graph::Phase;
  using graph::Role;
  Vectors v;
  const TensorId first = v.add(1024, Role::Gradient);
  const TensorId second = v.add(1024, Role::Gradient);
  v.run(Kind::Fill, Phase::Backward, {}, {first});
  v.run(Kind::ReduceScatter, Phase::Update, {first}, {v.add(512, Role::Gradient)});
  v.run(Kind::Fill, Phase::Backward, {}, {second});
  v.run(Kind::Neg, Phase::Backward, {second}, {v.add(1024, Role::Gradient)});
  v.run(Kind::ReduceScatter, Phase::Update, {second}, {v.add(512, Role::Gradient)});
  const std::vector<Storage> storages = storages_of(v.graph);
  const auto sent =
      std::find_if(storages.begin(), storages.end(), [](const Storage& s) { return s.born == 0; });
  ASSERT_NE(sent, storages.end());
  EXPECT_EQ(sent->last, 4);
  EXPECT_EQ(sent->part, Part::Gradients);
}

// Of two passes: what is scattered at node 1 is added to the sum of the first pass when the next
// scatter is under way, at node 3, though the addition comes last.
TEST(Collectives, ScatteredGradientsOfAPassAreAddedWhenTheyCome) {
  using graph::Phase;
  using graph::Role;
  Vectors v;
  const TensorId whole = v.add(1024, Role::Gradient);
  const TensorId shard = v.add(512, Role::Gradient);
  v.run(Kind::Fill, Phase::Backward, {}, {whole});
  v.run(Kind::ReduceScatter, Phase::Update, {whole}, {shard});
  v.run(Kind::Neg, Phase::Backward, {whole}, {v.add(1024, Role::Gradient)});
  v.run(Kind::ReduceScatter, Phase::Update, {whole}, {v.add(512, Role::Gradient)});
  v.run(Kind::Add, Phase::Backward, {v.add(512, Role::Gradient), shard},
        {v.add(512, Role::Gradient)});
  v.graph.nodes.back().label = "accumulate";
  const std::vector<Storage> storages = storages_of(v.graph);
  const auto scattered =
      std::find_if(storages.begin(), storages.end(), [](const Storage& s) { return s.born == 1; });
  ASSERT_NE(scattered, storages.end());
  EXPECT_EQ(scattered->last, 3);
}

// Images, a convolution, a mean over each channel, a linear layer; batch 2, fp16.
Graph classifier(std::int64_t pooled, bool frozen = false) {
  Builder b("classifier");
  const TensorId x = b.input("x", {b.batch(), 4, 8, 8});
  const Attributes padded{{Attr::Padding, {1}}};
  TensorId y = b.add(Kind::Conv, {x, b.parameter("w1", {4, 4, 3, 3})}, padded);
  y = b.add(Kind::Conv, {y, b.parameter("w2", {4, 4, 3, 3})}, padded);
  y = b.add(Kind::AdaptiveAvgPool, {y}, {{Attr::Sizes, {pooled}}});
  y = b.add(Kind::Reshape, {y}, {{Attr::Shape, {0, -1}}});
  y = b.add(Kind::Linear, {y, b.parameter("w3", {4, 4 * pooled * pooled})});
  b.loss(b.add(Kind::CrossEntropy, {y, b.input("targets", {b.batch()}, DType::I64)}));
  Graph graph = b.finish();
  for (graph::Tensor& tensor : graph.tensors) {
    if (frozen && tensor.name == "w2") tensor.trainable = false;
  }
  return graph;
}

// The last node that needs what the n-th node of that kind writes.
NodeId last_use(const Graph& step, const std::vector<Storage>& storages, Kind kind, int n) {
  for (const Storage& s : storages) {
    if (s.born < 0 || s.part != Part::Activations) continue;
    if (step.nodes[static_cast<std::size_t>(s.born)].kind == kind && n-- == 0) return s.last;
  }
  return kBeforeStep;
}

bool in_backward(const Graph& step, NodeId node) {
  return step.nodes[static_cast<std::size_t>(node)].phase == graph::Phase::Backward;
}

// The second convolution writes what the pool reads: a mean needs nothing of it.
TEST(Lifetimes, AMeanOverAnImageKeepsNothing) {
  const Graph mean = graph::backward(classifier(1));
  EXPECT_FALSE(in_backward(mean, last_use(mean, storages_of(mean, {}, 2), Kind::Conv, 1)));
  const Graph four = graph::backward(classifier(2));
  EXPECT_TRUE(in_backward(four, last_use(four, storages_of(four, {}, 2), Kind::Conv, 1)));
}

// Nobody wants the images' gradient, yet the 16-bit weights of the first convolution are kept; and
// the input of one whose weights are frozen.
TEST(Lifetimes, AConvolutionKeepsInputAndWeights) {
  const Graph half = graph::backward(
      graph::set_precision(classifier(1), Precision::Fp16, graph::Casting::Automatic));
  const std::vector<Storage> storages = storages_of(half, {}, 2);
  int copies = 0;
  for (const Storage& s : storages) {
    if (s.born < 0) continue;
    const graph::Node& node = half.nodes[static_cast<std::size_t>(s.born)];
    if (node.kind != Kind::Cast || half.tensor(node.inputs[0]).name != "w1") continue;
    ++copies;
    EXPECT_TRUE(in_backward(half, s.last));
  }
  EXPECT_EQ(copies, 1);
  const Graph frozen = graph::backward(classifier(1, true));
  EXPECT_TRUE(in_backward(frozen, last_use(frozen, storages_of(frozen, {}, 2), Kind::Conv, 0)));
}

// Logits of 4 values for each of 128 samples are 2048 B. Two operators keep the
// log-probabilities and need their gradient on the way to that of the logits: 4 times as much at
// the beginning of backward. One kernel keeps the logits and writes their gradient.
TEST(Lifetimes, AFusedCrossEntropyKeepsTheLogitsAlone) {
  Builder b("loss");
  const TensorId x = b.input("x", {b.batch(), 4});
  const TensorId z = b.add(Kind::Linear, {x, b.parameter("w", {4, 4})});
  b.output(z);
  b.loss(b.add(Kind::CrossEntropy, {z, b.input("targets", {b.batch()}, DType::I64)}));
  const Graph step = graph::backward(b.finish());
  std::size_t gradient = 0;
  while (step.nodes[gradient].kind != Kind::LossGrad) ++gradient;
  const auto during = [&](bool fused) {
    const std::vector<Storage> storages = storages_of(step, {.fused_loss = fused});
    return live_bytes(storages, step.nodes.size())[gradient];
  };
  EXPECT_EQ(during(false) - during(true), 2 * 2048);
}

// A convolution per step of a decoder, all of one weight.
Graph decoder(int steps) {
  Builder b("decoder");
  const TensorId w = b.parameter("w", {2, 2, 3});
  TensorId x = b.input("x", {b.batch(), 2, 8});
  for (int i = 0; i < steps; ++i) {
    x = b.add(Kind::Conv, {x, w}, {{Attr::Stride, {1}}, {Attr::Padding, {1}}});
  }
  b.output(x);
  return graph::backward(b.finish());
}

double processor_time(const graph::Bound& bound) {
  double least = 1e9;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t start = std::clock();
    lifetimes(bound, {});
    least = std::min(least, static_cast<double>(std::clock() - start));
  }
  return least;
}

// Eight times the steps take eight times as long; a look at all convolutions for each gradient
// took 64 times as long, seconds of 10,000 steps.
TEST(Lifetimes, OfConvolutionsWithOneWeightTakeTimeInProportion) {
  const Graph few = decoder(2000);
  const Graph many = decoder(16000);
  const double ratio = processor_time(graph::bind(many, {{"batch", 1}})) /
                       processor_time(graph::bind(few, {{"batch", 1}}));
  EXPECT_LT(ratio, 30);
}

}  // namespace
}  // namespace foretrain::memory
