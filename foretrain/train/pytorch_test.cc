// SPDX-License-Identifier: Apache-2.0
// Networks, their gradients and their training against PyTorch: tools/network_reference.py wrote
// the files of tests/networks with torch 2.13.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "foretrain/base/base64.h"
#include "foretrain/base/file.h"
#include "foretrain/base/json.h"
#include "foretrain/learn/network_file.h"
#include "foretrain/train/detail/batch.h"
#include "foretrain/train/network.h"

namespace foretrain::train {
namespace {

struct Reference {
  learn::GraphNetwork network;
  std::vector<GraphExample> examples;
  std::vector<float> outputs;
  std::vector<std::vector<float>> gradients;  // of the mean of squares
  std::vector<std::vector<float>> updated;    // parameters after some updates by Adam
  std::size_t updates;
};

std::vector<float> floats(const Json& json) { return floats_from_base64(json.get<std::string>()); }

Reference read_reference(const std::string& name) {
  const std::filesystem::path file = "tests/networks/" + name + ".json";
  const Json json = parse_json(read_file(file, 1 << 20), file.string());
  Reference reference{.network = learn::read_network(json_text(json["network"]), file.string()),
                      .examples = {},
                      .outputs = floats(json["outputs"]),
                      .gradients = {},
                      .updated = {},
                      .updates = json["updates"].get<std::size_t>()};
  for (const Json& graph : json["graphs"]) {
    GraphExample example;
    example.graph.nodes.values = floats(graph["nodes"]);
    example.graph.nodes.columns = reference.network.shape.features;
    example.graph.nodes.rows = example.graph.nodes.values.size() / example.graph.nodes.columns;
    for (const Json& edge : graph["edges"]) {
      example.graph.edges.emplace_back(edge[0].get<int>(), edge[1].get<int>());
    }
    for (const float target : floats(graph["targets"])) example.targets.emplace_back(target);
    reference.examples.push_back(std::move(example));
  }
  for (const Json& one : json["gradients"]) reference.gradients.push_back(floats(one));
  for (const Json& one : json["updated"]) reference.updated.push_back(floats(one));
  return reference;
}

// Within `tolerance` of the largest of them.
void expect_equal(const std::vector<float>& ours, const std::vector<float>& theirs,
                  double tolerance, const std::string& what) {
  ASSERT_EQ(ours.size(), theirs.size()) << what;
  float largest = 0;
  for (const float value : theirs) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < ours.size(); ++i) {
    EXPECT_NEAR(ours[i], theirs[i], tolerance * static_cast<double>(largest)) << what << ' ' << i;
  }
}

class EqualsPyTorch : public testing::TestWithParam<std::string> {};

TEST_P(EqualsPyTorch, InOutputs) {
  const Reference reference = read_reference(GetParam());
  std::vector<const learn::GraphInput*> graphs;
  for (const GraphExample& one : reference.examples) graphs.push_back(&one.graph);
  const learn::Matrix outputs = learn::evaluate(reference.network, graphs);
  ASSERT_EQ(outputs.values.size(), reference.outputs.size());
  for (std::size_t i = 0; i < outputs.values.size(); ++i) {
    EXPECT_NEAR(outputs.values[i], reference.outputs[i], 1e-5);
  }
}

TEST_P(EqualsPyTorch, InGradients) {
  const Reference reference = read_reference(GetParam());
  std::vector<const GraphExample*> examples;
  for (const GraphExample& one : reference.examples) examples.push_back(&one);
  Tapes tapes;
  SquareSums sums = square_sums(reference.network, examples, {}, 1, tapes);
  for (std::size_t i = 0; i < sums.gradients.size(); ++i) {
    for (float& value : sums.gradients[i]) value /= static_cast<float>(sums.count);
    expect_equal(sums.gradients[i], reference.gradients[i], 1e-4,
                 reference.network.parameters[i].name);
  }
}

TEST_P(EqualsPyTorch, AfterUpdatesByAdam) {
  const Reference reference = read_reference(GetParam());
  TrainState state = begin_training(reference.network);
  TrainOptions options;  // the learning rate and weight decay of the reference; one batch
  options.most_epochs = reference.updates;
  train_network(reference.examples, {}, options, state, {});
  for (std::size_t i = 0; i < reference.updated.size(); ++i) {
    expect_equal(state.network.parameters[i].matrix.values, reference.updated[i], 1e-4,
                 reference.network.parameters[i].name);
  }
}

// Each convolution and each readout once.
INSTANTIATE_TEST_SUITE_P(Networks, EqualsPyTorch,
                         testing::Values("gcn_set2set", "gin_mean", "gat_max", "mpnn_attention"),
                         [](const auto& given) { return given.param; });

}  // namespace
}  // namespace foretrain::train
