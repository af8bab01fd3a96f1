// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "foretrain/base/error.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"
#include "foretrain/zoo/random/random_draw.h"
#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Tensor;

constexpr int kSeeds = 200;

std::string spec_of(const std::string& family, int seed) {
  return "random:family=" + family + ",seed=" + std::to_string(seed);
}

// Everything that makes two graphs different, as text.
std::string fingerprint(const Graph& model) {
  std::string text;
  for (const Tensor& tensor : model.tensors) {
    text += tensor.name + graph::to_string(tensor.shape, model.symbols) + ";";
  }
  for (const Node& node : model.nodes) {
    text += node.scope + ":" + graph::describe(node);
    for (const graph::TensorId id : node.inputs) text += " " + std::to_string(id);
    for (const graph::Attribute& attribute : node.attributes.list()) {
      text += " " + std::to_string(static_cast<int>(attribute.key));
      for (const graph::Dim& value : attribute.values) {
        text += "," + graph::to_string(value, model.symbols);
      }
    }
    text += ";";
  }
  return text;
}

// The most nodes of `kind` on any path through the graph.
int longest_path(const Graph& model, Kind kind) {
  std::vector<int> length(model.tensors.size(), 0);
  int longest = 0;
  for (const Node& node : model.nodes) {
    int most = 0;
    for (const graph::TensorId id : node.inputs) {
      most = std::max(most, length[static_cast<std::size_t>(id)]);
    }
    if (node.kind == kind) ++most;
    for (const graph::TensorId id : node.outputs) length[static_cast<std::size_t>(id)] = most;
    longest = std::max(longest, most);
  }
  return longest;
}

class RandomFamily : public testing::TestWithParam<const char*> {};

TEST_P(RandomFamily, BuildsSoundModelsOfSaneSize) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Graph model = build(spec_of(GetParam(), seed));
    SCOPED_TRACE(spec_of(GetParam(), seed));
    EXPECT_NO_THROW(graph::verify(model));
    ASSERT_TRUE(model.loss.has_value());
    ASSERT_FALSE(model.outputs.empty());
    const graph::Bound bound = graph::bind(model, {{"batch", 2}});
    for (const double elements : bound.elements) {
      EXPECT_GE(elements, 1);
      EXPECT_LE(elements, 2e8);
    }
    const auto parameters = static_cast<double>(graph::parameter_count(model));
    EXPECT_GE(parameters, 50);
    EXPECT_LE(parameters, 2e8);
    EXPECT_GE(gemm_flops(model, 1), 100);
    EXPECT_LE(gemm_flops(model, 1), 3e11);
  }
}

TEST_P(RandomFamily, GivesEveryParameterAGradient) {
  for (int seed = 0; seed < kSeeds; seed += 5) {
    const Graph step = graph::backward(build(spec_of(GetParam(), seed)));
    const auto parameters =
        std::count_if(step.tensors.begin(), step.tensors.end(),
                      [](const Tensor& tensor) { return tensor.role == graph::Role::Parameter; });
    EXPECT_EQ(static_cast<std::int64_t>(step.gradients.size()), parameters) << seed;
  }
}

TEST_P(RandomFamily, IsTheSameForTheSameSeedAndDiffersForOthers) {
  std::set<std::string> seen;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const std::string first = fingerprint(build(spec_of(GetParam(), seed)));
    EXPECT_EQ(first, fingerprint(build(spec_of(GetParam(), seed))));
    EXPECT_TRUE(seen.insert(first).second) << "seed " << seed << " repeats an earlier one";
  }
}

INSTANTIATE_TEST_SUITE_P(Random, RandomFamily,
                         testing::Values("cnn", "mlp", "lstm", "transformer", "any"));

TEST(RandomCnn, IsThreeToFortyConvolutionsDeep) {
  int least = 100;
  int most = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const int depth = longest_path(build(spec_of("cnn", seed)), Kind::Conv);
    least = std::min(least, depth);
    most = std::max(most, depth);
  }
  EXPECT_EQ(least, 3);
  EXPECT_GE(most, 38);
  EXPECT_LE(most, 40);
}

// What published networks have, and what tells them apart, must all occur in some.
TEST(RandomCnn, HasTheVarietyOfPublishedNetworks) {
  std::set<Kind> kinds;
  std::set<std::int64_t> kernels;
  int depthwise = 0;
  int normed = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Graph model = build(spec_of("cnn", seed));
    normed += count(model, Kind::BatchNorm) > 0 ? 1 : 0;
    for (const Node& node : model.nodes) {
      kinds.insert(node.kind);
      if (node.kind != Kind::Conv) continue;
      const graph::Shape& weight = model.tensor(node.inputs[1]).shape;
      kernels.insert(weight[2].factor);
      if (node.attributes.number(Attr::Groups, 1) == weight[0].factor) ++depthwise;
    }
  }
  for (const Kind kind : {Kind::Add, Kind::Concat, Kind::MaxPool, Kind::AvgPool, Kind::Dropout,
                          Kind::Relu, Kind::Relu6, Kind::Silu, Kind::HardSwish, Kind::LeakyRelu,
                          Kind::Gelu, Kind::Elu, Kind::Tanh, Kind::Sigmoid, Kind::Mul}) {
    EXPECT_TRUE(kinds.contains(kind)) << graph::op(kind).name;
  }
  EXPECT_EQ(kernels, (std::set<std::int64_t>{1, 3, 5, 7}));
  EXPECT_GT(depthwise, 0);
  EXPECT_GT(normed, kSeeds / 2);
  EXPECT_LT(normed, kSeeds);
}

TEST(RandomCnn, TakesItsImageAndClasses) {
  for (const int image : {8, 33, 64, 224}) {
    for (int seed = 0; seed < 20; ++seed) {
      const Graph model = build(spec_of("cnn", seed) + ",classes=7,image=" + std::to_string(image));
      EXPECT_EQ(model.tensor(model.outputs.front()).shape[1], graph::Dim(7));
      EXPECT_LE(gemm_flops(model, 1), 1e11);
    }
  }
}

TEST(Random, RefusesParametersOfOtherFamilies) {
  EXPECT_THROW(build("random:family=mlp,image=64"), Error);
  EXPECT_THROW(build("random:family=cnn,seq=64"), Error);
  EXPECT_THROW(build("random:family=gan"), Error);
  EXPECT_NO_THROW(build("random:seed=3,image=64,classes=5,seq=32"));
}

// The generator's first number from its standard seed, 5489, is 14514284786278117030
// (Nishimura and Matsumoto's mt19937-64.c prints it); its last digit is 0.
TEST(Draw, IsTheSameOnEveryPlatform) {
  Draw draw(5489);
  EXPECT_EQ(draw.between(10, 19), 10);
}

TEST(Draw, StaysWithinItsBoundsAndReachesThem) {
  Draw draw(1);
  std::set<std::int64_t> seen;
  for (int i = 0; i < 200; ++i) seen.insert(draw.between(-1, 2));
  EXPECT_EQ(seen, (std::set<std::int64_t>{-1, 0, 1, 2}));
  for (int i = 0; i < 200; ++i) {
    const std::int64_t size = draw.magnitude(4, 9);
    EXPECT_TRUE(size >= 16 && size < 1024) << size;
  }
  EXPECT_FALSE(draw.chance(0));
  EXPECT_TRUE(draw.chance(100));
}

}  // namespace
}  // namespace foretrain::zoo
