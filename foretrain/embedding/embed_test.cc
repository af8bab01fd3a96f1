// SPDX-License-Identifier: Apache-2.0
#include "foretrain/embedding/embed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/embedding/graph_input.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::embedding {
namespace {

std::string text_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What PyTorch answered with the same file: written by foretrain_train.embedding_file.
TEST(Embed, AgreesWithPyTorch) {
  const Json reference = parse_json(text_of("tests/embedding/reference.json"));
  Embedder embedder(shipped_embedding());
  ASSERT_EQ(reference["checksum"], embedder.embedding().checksum)
      << "the reference is of another file; make embedding writes both";
  ASSERT_GE(reference["models"].size(), 10U);
  for (const Json& one : reference["models"]) {
    const auto name = one["model"].get<std::string>();
    const graph::Graph model = zoo::build(name);
    const learn::DirectedInput input = graph_input(model, embedder.embedding());
    EXPECT_EQ(input.kinds.size(), one["nodes"].get<std::size_t>()) << name;
    EXPECT_EQ(input.edges.size(), one["edges"].get<std::size_t>()) << name;
    const std::vector<float> numbers = embedder.embed(model);
    const auto expected = one["embedding"].get<std::vector<double>>();
    ASSERT_EQ(numbers.size(), expected.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      EXPECT_NEAR(numbers[i], expected[i], 1e-5 * std::max(1.0, std::abs(expected[i])))
          << name << ", number " << i;
    }
  }
}

TEST(Embed, DoesNotDependOnWhatCameBefore) {
  Embedder embedder(shipped_embedding());
  const std::vector<float> first = embedder.embed(zoo::build("resnet18"));
  embedder.embed(zoo::build("vgg11"));
  EXPECT_EQ(embedder.embed(zoo::build("resnet18")), first);
}

TEST(Embed, NearestModelsAreSortedAndLeaveOutTheModelItself) {
  const Embedding embedding = shipped_embedding();
  Embedder embedder(embedding);
  const std::vector<float> numbers = embedder.embed(zoo::build("vgg16"));
  const std::vector<Neighbour> all = nearest_models(embedding, numbers, "", 3, 2);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].name, "vgg16");  // without an exception it is nearest to itself
  EXPECT_EQ(all[0].distance, 0);
  EXPECT_LE(all[1].distance, all[2].distance);
  const std::vector<Neighbour> others = nearest_models(embedding, numbers, "vgg16", 2, 1);
  EXPECT_EQ(others[0].name, all[1].name);  // and threads change nothing
}

// (1 - 0) / 2 and (3 - 0) / 1: the root of (0.25 + 9) / 2.
TEST(Distance, CountsInSpreads) {
  Embedding embedding;
  embedding.spread = {2, 1};
  EXPECT_NEAR(distance(embedding, {1, 3}, {0, 0}), std::sqrt(9.25 / 2), 1e-12);
  EXPECT_EQ(distance(embedding, {1, 3}, {1, 3}), 0);
}

}  // namespace
}  // namespace foretrain::embedding
