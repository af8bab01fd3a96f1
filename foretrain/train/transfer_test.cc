// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/transfer.h"

#include <gtest/gtest.h>

#include <map>

#include "foretrain/base/error.h"
#include "foretrain/train/network.h"

namespace foretrain::train {
namespace {

const learn::NetworkShape kShape{
    .features = 2, .width = 8, .depth = 6, .readout_steps = 4, .outputs = 2};

// Rings of 5 to 12 nodes with drawn features.
std::vector<GraphExample> examples() {
  std::vector<GraphExample> result;
  for (int e = 0; e < 8; ++e) {
    GraphExample one;
    const int nodes = 5 + e;
    one.graph.nodes = learn::Matrix(static_cast<std::size_t>(nodes), 2);
    float next = 0.1F * static_cast<float>(e);
    for (float& value : one.graph.nodes.values) value = next = 1 - 0.7F * next;
    for (int i = 0; i < nodes; ++i) one.graph.edges.emplace_back(i, (i + 1) % nodes);
    one.targets = {0.1F * static_cast<float>(e), 1.0F};
    result.push_back(std::move(one));
  }
  return result;
}

// Which parts of the network an epoch of training changes.
std::vector<std::string> changed_by(const Transfer& transfer) {
  TrainState state = begin_training(transfer.network);
  TrainOptions options;
  options.most_epochs = 2;
  options.frozen = transfer.frozen;
  train_network(examples(), examples(), options, state, {});
  std::vector<std::string> changed;
  for (std::size_t i = 0; i < transfer.network.parameters.size(); ++i) {
    const learn::NamedMatrix& before = transfer.network.parameters[i];
    if (state.network.parameters[i].matrix.values == before.matrix.values) continue;
    const std::string part = before.name.substr(0, before.name.find('.'));
    if (changed.empty() || changed.back() != part) changed.push_back(part);
  }
  return changed;
}

TEST(Transfer, TrainsWhatThePartitionNames) {
  using Parts = std::vector<std::string>;
  const std::map<std::string, Parts> expected{
      {"driple", {"copied", "dense1", "dense2", "dense3"}},
      {"repeated+mlp", {"repeated", "dense1", "dense2", "dense3"}},
      {"repeated+gru", {"repeated", "gru"}},
      {"mlp", {"dense1", "dense2", "dense3"}},
      {"all", {"first", "repeated", "gru", "set2set", "dense1", "dense2", "dense3"}}};
  const learn::GraphNetwork network = learn::make_network(kShape, 1);
  ASSERT_EQ(partition_names().size(), expected.size());
  for (const std::string_view name : partition_names()) {
    const Partition partition = partition_named(name).value();
    EXPECT_EQ(name_of(partition), name);
    EXPECT_EQ(changed_by(transfer_from(network, partition)), expected.at(std::string(name)))
        << name;
  }
  EXPECT_FALSE(partition_named("none"));
}

// Six convolutions: one from the features and five repetitions, of which the first two stay.
TEST(Transfer, HalvesTheRepetitions) {
  for (const learn::Convolution convolution :
       {learn::Convolution::Gcn, learn::Convolution::Gin, learn::Convolution::Gat}) {
    learn::NetworkShape shape = kShape;
    shape.convolution = convolution;
    const learn::GraphNetwork network = learn::make_network(shape, 1);
    const Transfer transfer = transfer_from(network, Partition::Driple);
    EXPECT_EQ(transfer.network.shape.copied_from, 3U);
    const std::vector<GraphExample> all = examples();
    EXPECT_EQ(learn::evaluate(transfer.network, {&all[0].graph}).values,
              learn::evaluate(network, {&all[0].graph}).values);
    const Transfer again = transfer_from(transfer.network, Partition::Driple);
    EXPECT_EQ(again.network.parameters.size(), transfer.network.parameters.size());
  }
}

TEST(Transfer, OfTheReleasedNetworkHasOneLayerMore) {
  const Transfer transfer =
      transfer_from(learn::make_network(learn::driple_shape(), 1), Partition::Driple);
  EXPECT_EQ(transfer.network.shape.copied_from, 25U);
  EXPECT_EQ(learn::parameter_count(transfer.network), 92'236U + 64 * 64 + 64);
}

TEST(Transfer, RefusesWhatIsNotThere) {
  learn::NetworkShape shape = kShape;
  shape.gru = false;
  EXPECT_THROW(transfer_from(learn::make_network(shape, 1), Partition::RepeatedGru), Error);
  shape.depth = 1;
  EXPECT_THROW(transfer_from(learn::make_network(shape, 1), Partition::Driple), Error);
}

}  // namespace
}  // namespace foretrain::train
