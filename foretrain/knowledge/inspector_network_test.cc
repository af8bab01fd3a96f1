// SPDX-License-Identifier: Apache-2.0
#include "foretrain/knowledge/inspector_network.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"

namespace foretrain {
namespace {

constexpr std::size_t kFeatures = 5;  // of the inspector

InspectorNetwork small() {
  InspectorNetwork network{.grouping = {.groups = 7, .proportional = true, .seed = 3},
                           .nodes = NodeFeatures::Driple,
                           .codes = {{"conv", 0.25}},
                           .whole = {4, 2},
                           .whole_standard = {{1, 2}, {3, 4}}};
  network.outputs = {{.name = "worker.net_tx.burst_s",
                      .physics = 3,
                      .offset = 0.5,
                      .scale = 2,
                      .low = -1,
                      .high = 1,
                      .examples = 9},
                     {.name = "worker.net_rx.burst_s", .scale = 8, .least = 0.5}};
  network.network = learn::make_network(
      {.features = 3, .whole_features = 2, .width = 4, .depth = 2, .outputs = 2}, 1);
  return network;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(InspectorNetwork, ReadsWhatItWrote) {
  const std::string text = write_inspector_network(small());
  const InspectorNetwork network = read_inspector_network(text, kFeatures, "file");
  EXPECT_EQ(write_inspector_network(network), text);
  EXPECT_EQ(network.outputs[0].physics, 3U);
  EXPECT_EQ(network.outputs[1].physics, std::nullopt);
  EXPECT_EQ(network.grouping.groups, 7U);
}

TEST(InspectorNetwork, RefusesWhatIsDamaged) {
  const std::string text = write_inspector_network(small());
  const auto refused = [](const std::string& damaged, std::size_t features) {
    try {
      read_inspector_network(damaged, features, "file 'x'");
    } catch (const Error& error) {
      return error.kind() == ErrorKind::BadInput &&
             std::string(error.what()).find("file 'x'") != std::string::npos;
    }
    return false;
  };
  EXPECT_TRUE(refused(text.substr(0, text.size() / 2), kFeatures));
  EXPECT_TRUE(refused(text, 3));  // feature 4 is not there
  EXPECT_TRUE(refused(replaced(text, "\"groups\":7", "\"groups\":0"), kFeatures));
  EXPECT_TRUE(refused(replaced(text, "\"nodes\":\"driple\"", "\"nodes\":\"x\""), kFeatures));
  EXPECT_TRUE(refused(replaced(text, "\"scale\":2.0", "\"scale\":-2.0"), kFeatures));
  EXPECT_TRUE(refused(replaced(text, "\"whole\":[4,2]", "\"whole\":[4]"), kFeatures));
  EXPECT_TRUE(refused(replaced(text, "\"width\":4", "\"width\":5"), kFeatures));
  EXPECT_TRUE(refused(replaced(text, "\"examples\":9", "\"examples\":1e300"), kFeatures));
  EXPECT_TRUE(refused(replaced(text, "\"high\":1.0", "\"high\":1e300"), kFeatures));
}

// 10,000 groups of 40 numbers through 10,000 layers that share their weights: 1.6e11
// multiplications from a file of 100 kB.
TEST(InspectorNetwork, RefusesWhatWouldTakeMinutes) {
  InspectorNetwork network = small();
  network.grouping.groups = 10'000;
  network.network = learn::make_network(
      {.features = 3, .whole_features = 2, .width = 40, .depth = 10'000, .outputs = 2}, 1);
  EXPECT_THROW(read_inspector_network(write_inspector_network(network), kFeatures, "file"), Error);
  network.grouping.groups = 10;
  EXPECT_NO_THROW(read_inspector_network(write_inspector_network(network), kFeatures, "file"));
}

}  // namespace
}  // namespace foretrain
