// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/zoo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "foretrain/base/error.h"

namespace foretrain::zoo {
namespace {

std::string message_of(const std::string& text, ErrorKind kind) {
  try {
    build(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << text;
    return error.what();
  }
  ADD_FAILURE() << text << " did not fail";
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Zoo, EveryModelIsListedOnceAndDescribed) {
  std::vector<std::string> names;
  for (const Model& model : models()) {
    names.push_back(model.name);
    EXPECT_FALSE(model.family.empty()) << model.name;
    EXPECT_FALSE(model.about.empty()) << model.name;
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(Zoo, EveryModelHasNodesParametersOutputAndLoss) {
  for (const Model& model : models()) {
    const graph::Graph graph = build(model.name);
    EXPECT_EQ(graph.name, model.name);
    EXPECT_FALSE(graph.nodes.empty()) << model.name;
    EXPECT_GT(graph::parameter_count(graph), 0) << model.name;
    EXPECT_FALSE(graph.outputs.empty()) << model.name;
    ASSERT_TRUE(graph.loss.has_value()) << model.name;
    EXPECT_EQ(graph.tensor(*graph.loss).shape.rank(), 0) << model.name;
  }
}

TEST(Zoo, ParametersAreNamedOnce) {
  for (const Model& model : models()) {
    const graph::Graph graph = build(model.name);
    std::vector<std::string> names;
    for (const graph::Tensor& tensor : graph.tensors) {
      if (!tensor.name.empty()) names.push_back(tensor.name);
    }
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    EXPECT_EQ(twice, names.end()) << model.name << " has " << *twice << " twice";
  }
}

TEST(Zoo, UnknownNameListsNearOnes) {
  const std::string message = message_of("resnet51", ErrorKind::NotFound);
  EXPECT_TRUE(contains(message, "'resnet51'")) << message;
  EXPECT_TRUE(contains(message, "did you mean 'resnet50'")) << message;
}

TEST(Zoo, NameLikeNothingSaysWhereNamesAre) {
  const std::string message = message_of("banana", ErrorKind::NotFound);
  EXPECT_TRUE(contains(message, "foretrain models")) << message;
}

TEST(Zoo, UnknownParameterListsNearOnes) {
  const std::string message = message_of("resnet50:imag=64", ErrorKind::BadInput);
  EXPECT_TRUE(contains(message, "no parameter 'imag'; did you mean 'image'?")) << message;
}

TEST(Zoo, ParameterLikeNothingListsAll) {
  const std::string message = message_of("resnet50:volume=64", ErrorKind::BadInput);
  EXPECT_TRUE(contains(message, "it takes image or classes")) << message;
}

TEST(Zoo, ImageTooSmallNamesTheLeast) {
  for (const char* name : {"resnet50", "vgg16", "densenet121", "inception_v3", "mobilenet_v2",
                           "alexnet", "squeezenet1_0", "mnasnet1_0", "shufflenet_v2_x1_0"}) {
    const std::string message = message_of(name + std::string(":image=7"), ErrorKind::BadInput);
    EXPECT_TRUE(contains(message, "image=7 is not within ")) << message;
  }
}

// A matrix of 2^26 by 2^24.
TEST(Zoo, RefusesMoreParametersThanCanBeCounted) {
  const std::string message =
      message_of("llama:layers=1,hidden=16777216,heads=4,head_size=16777216", ErrorKind::BadInput);
  EXPECT_TRUE(contains(message, "model 'llama': a tensor has more than 2^48")) << message;
}

TEST(Zoo, SameTextGivesTheSameGraphOnManyThreads) {
  std::vector<graph::Graph> graphs(4);
  std::vector<std::thread> threads;
  threads.reserve(graphs.size());
  for (graph::Graph& graph : graphs) {
    threads.emplace_back([&graph] { graph = build("resnet18:image=64"); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const graph::Graph& graph : graphs) {
    ASSERT_EQ(graph.nodes.size(), graphs[0].nodes.size());
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      EXPECT_EQ(graph.nodes[i].scope, graphs[0].nodes[i].scope);
      EXPECT_EQ(graph.nodes[i].inputs, graphs[0].nodes[i].inputs);
    }
  }
}

}  // namespace
}  // namespace foretrain::zoo
