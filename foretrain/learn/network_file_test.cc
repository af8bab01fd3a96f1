// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/network_file.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"

namespace foretrain::learn {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return text.replace(place, from.size(), to);
}

TEST(NetworkFile, KeepsEveryBit) {
  const GraphNetwork network = make_network({.convolution = Convolution::Gat,
                                             .readout = Readout::Attention,
                                             .width = 5,
                                             .copied_from = 3},
                                            4);
  const GraphNetwork read = read_network(write_network(network), "here");
  ASSERT_EQ(read.parameters.size(), network.parameters.size());
  for (std::size_t i = 0; i < read.parameters.size(); ++i) {
    EXPECT_EQ(read.parameters[i].name, network.parameters[i].name);
    EXPECT_EQ(read.parameters[i].matrix.values, network.parameters[i].matrix.values);
  }
  EXPECT_EQ(write_network(read), write_network(network));
}

TEST(NetworkFile, RefusesWhatIsNoNetwork) {
  const std::string good = write_network(make_network({.width = 2, .depth = 2}, 1));
  for (const std::string& text :
       {std::string("{}"), replaced(good, "\"width\":2", "\"width\":3"),
        replaced(good, "\"width\":2", "\"width\":1000000000"), replaced(good, "gcn", "cnn"),
        replaced(good, "first.bias", "last.bias"), replaced(good, "\"data\":\"", "\"data\":\"!"),
        replaced(good, "\"depth\":2", "\"depth\":-1")}) {
    EXPECT_THROW(read_network(text, "here"), Error) << text.substr(0, 200);
  }
}

}  // namespace
}  // namespace foretrain::learn
