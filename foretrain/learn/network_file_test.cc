// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/network_file.h"

#include <gtest/gtest.h>

#include <random>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/learn/checksum.h"

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

// The same object with its checksum put right.
std::string summed(const std::string& text) {
  Json json = parse_json(text);
  json.erase("checksum");
  json["checksum"] = checksum(json_text(json));
  return json_text(json);
}

void expect_refused(const std::string& text) {
  try {
    read_network(text, "here");
    FAIL() << text.substr(0, 200);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    EXPECT_TRUE(std::string(error.what()).starts_with("here")) << error.what();
  }
}

// Also sizes for which memory would not do: the text has not as many numbers.
TEST(NetworkFile, RefusesWhatIsNoNetwork) {
  const std::string good = write_network(make_network({.width = 2, .depth = 2}, 1));
  EXPECT_NO_THROW(read_network(summed(good), "here"));
  for (const std::string& text :
       {replaced(good, "\"width\":2", "\"width\":3"),
        replaced(good, "\"width\":2", "\"width\":4096"),
        replaced(good, "\"width\":2", "\"width\":1000000000"), replaced(good, "gcn", "cnn"),
        replaced(good, "\"rows\":3", "\"rows\":3000000000"),
        replaced(good, "first.bias", "last.bias"), replaced(good, "\"data\":\"", "\"data\":\"!"),
        replaced(good, "\"depth\":2", "\"depth\":-1")}) {
    expect_refused(summed(text));
  }
  expect_refused("{}");
  expect_refused("[]");
  expect_refused("");
}

TEST(NetworkFile, RefusesWhatIsCutOff) {
  const std::string good = write_network(make_network({.width = 4, .depth = 2}, 1));
  for (std::size_t part = 0; part < 50; ++part) {
    expect_refused(good.substr(0, good.size() * part / 50));
  }
}

// A byte in which some bits are turned over: the checksum finds what the parser does not.
TEST(NetworkFile, RefusesDamagedBytes) {
  const std::string good = write_network(make_network({.width = 4, .depth = 2}, 1));
  std::mt19937 generator(1);
  for (int i = 0; i < 300; ++i) {
    std::string text = good;
    char& byte = text[generator() % text.size()];
    byte = static_cast<char>(static_cast<unsigned>(byte) ^ (1 + generator() % 255));
    expect_refused(text);
  }
}

}  // namespace
}  // namespace foretrain::learn
