// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/network.h"

#include <gtest/gtest.h>

#include <random>

#include "foretrain/base/error.h"

namespace foretrain::train {
namespace {

// Paths of 3 to 12 nodes; the target is the share of nodes whose feature is one.
std::vector<GraphExample> examples(int count, int seed) {
  std::vector<GraphExample> result;
  for (int e = 0; e < count; ++e) {
    GraphExample one;
    const int nodes = 3 + (e * 7 + seed) % 10;
    one.graph.nodes = learn::Matrix(static_cast<std::size_t>(nodes), 1);
    float share = 0;
    for (int i = 0; i < nodes; ++i) {
      const bool set = (i * i + e + seed) % 3 == 0;
      one.graph.nodes.values[static_cast<std::size_t>(i)] = set ? 1 : 0;
      share += (set ? 1.0F : 0.0F) / static_cast<float>(nodes);
      if (i > 0) one.graph.edges.emplace_back(i - 1, i);
    }
    one.targets = {share, std::nullopt};
    if (e % 2 == 0) one.targets[1] = 1 - share;
    result.push_back(std::move(one));
  }
  return result;
}

const learn::NetworkShape kShape{
    .readout = learn::Readout::Mean, .features = 1, .width = 8, .depth = 3, .outputs = 2};

TrainOptions quick() {
  TrainOptions options;
  options.batch = 8;
  options.patience = 30;
  options.most_epochs = 120;
  return options;
}

TEST(TrainNetwork, LearnsWhatTheGraphsTell) {
  TrainState state = begin_training(learn::make_network(kShape, 1));
  const std::vector<GraphExample> validation = examples(16, 5);
  const double before = loss_of(state.network, validation);
  train_network(examples(48, 0), validation, quick(), state, {});
  EXPECT_LT(loss_of(state.best, validation), 0.1 * before);
  EXPECT_EQ(loss_of(state.best, validation), state.best_loss);
}

// Stopped after seven epochs, written, read and gone on with, by another number of threads: the
// same bits.
TEST(TrainNetwork, GoesOnAsIfItHadNotStopped) {
  TrainOptions options = quick();
  options.most_epochs = 15;
  options.threads = 3;
  const std::vector<GraphExample> train_set = examples(20, 0);
  const std::vector<GraphExample> validation = examples(8, 5);
  TrainState whole = begin_training(learn::make_network(kShape, 2));
  train_network(train_set, validation, options, whole, {});
  TrainState parts = begin_training(learn::make_network(kShape, 2));
  train_network(train_set, validation, options, parts,
                [](const EpochReport& report) { return report.epoch < 7; });
  EXPECT_EQ(parts.epoch, 7U);
  TrainState later = read_state(write_state(parts), "here");
  options.threads = 1;
  train_network(train_set, validation, options, later, {});
  EXPECT_EQ(write_state(later), write_state(whole));
}

TEST(TrainNetwork, FrozenParametersStay) {
  const learn::GraphNetwork network = learn::make_network(kShape, 3);
  TrainState state = begin_training(network);
  TrainOptions options = quick();
  options.most_epochs = 3;
  options.frozen = {"first", "gru"};
  train_network(examples(16, 0), examples(8, 5), options, state, {});
  for (std::size_t i = 0; i < network.parameters.size(); ++i) {
    const std::string& name = network.parameters[i].name;
    const bool frozen = name.starts_with("first") || name.starts_with("gru");
    EXPECT_EQ(state.network.parameters[i].matrix.values == network.parameters[i].matrix.values,
              frozen)
        << name;
  }
}

void expect_refused(const std::string& bytes) {
  try {
    read_state(bytes, "here");
    FAIL() << bytes.substr(0, 200);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    EXPECT_TRUE(std::string(error.what()).starts_with("here")) << error.what();
  }
}

// Cut off, or with some bits of a byte turned over.
TEST(TrainNetwork, RefusesADamagedState) {
  const std::string good = write_state(begin_training(learn::make_network(kShape, 1)));
  EXPECT_NO_THROW(read_state(good, "here"));
  expect_refused("{}");
  for (std::size_t part = 0; part < 50; ++part) {
    expect_refused(good.substr(0, good.size() * part / 50));
  }
  std::mt19937 generator(1);
  for (int i = 0; i < 200; ++i) {
    std::string bytes = good;
    char& byte = bytes[generator() % bytes.size()];
    byte = static_cast<char>(static_cast<unsigned>(byte) ^ (1 + generator() % 255));
    expect_refused(bytes);
  }
}

}  // namespace
}  // namespace foretrain::train
