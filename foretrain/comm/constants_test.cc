// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/constants.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "foretrain/base/error.h"
#include "foretrain/hw/catalog.h"
#include "foretrain/hw/load_catalog.h"

namespace foretrain::comm {
namespace {

// Every constant another number.
Constants numbered() {
  Constants constants;
  double next = 1;
  for (const NumberPlace& number : named_numbers(constants)) *number.value = next++;
  constants.links["nvlink3"] = {"nvlink", 3, "a whitepaper"};
  return constants;
}

TEST(Constants, AreReadAsTheyWereWritten) {
  const std::string note = "by hand";
  const std::string text = write_constants(numbered(), std::span(&note, 1));
  Constants read = read_constants(text, "file");
  double expected = 1;
  for (const NumberPlace& number : named_numbers(read)) {
    EXPECT_EQ(*number.value, expected++) << number.group << "." << number.name;
  }
  EXPECT_EQ(write_constants(read, std::span(&note, 1)), text);
}

// A fit may start from numbers alone; what is predicted with needs the links too.
TEST(Constants, NumbersMayComeWithoutLinks) {
  const std::string numbers = write_constants(Constants{}, {});
  EXPECT_EQ(with_numbers_of(numbers, "file", numbered()).links.at("nvlink3").peers, 3);
  EXPECT_EQ(with_numbers_of(numbers, "file", numbered()).launch_s, 0);
  EXPECT_THROW(read_constants(numbers, "file"), Error);
}

std::string problem(const std::string& text) {
  try {
    read_constants(text, "file");
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(Constants, NamesWhatIsWrong) {
  const std::string text = write_constants(numbered(), {});
  const auto with = [&](const std::string& old, const std::string& now) {
    std::string changed = text;
    changed.replace(changed.find(old), old.size(), now);
    return problem(changed);
  };
  EXPECT_NE(with("foretrain-collectives", "other").find("foretrain-collectives"),
            std::string::npos);
  EXPECT_NE(with("\"nvlink3\"", "\"nvlink3\": 3, \"nvlink4\"").find("links.nvlink3"),
            std::string::npos);
  EXPECT_NE(with("\"constants\":\"nvlink\"", "\"constants\": \"wire\"").find("nvlink, rdma or tcp"),
            std::string::npos);
  EXPECT_NE(with("\"chain\"", "\"chian\"").find("chain"), std::string::npos);
  EXPECT_NE(with("\"ramp_s\": 3.0", "\"ramp_s\": -3").find("nvlink.ramp_s"), std::string::npos);
  EXPECT_NE(with("\"notes\": []", "\"notes\": [], \"more\": {\"x\": 1}").find("more.x"),
            std::string::npos);
}

// With the links of the file in use.
Constants some() {
  const std::string file = "data/predictors/collectives.json";
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  Constants constants;
  constants.links = read_constants(text.str(), file).links;
  constants.nvlink = {.efficiency = 0.5, .latency_s = 3e-6, .ramp_s = 4e-6, .chain = 0.2};
  constants.rdma = {.efficiency = 0.25, .latency_s = 9e-6, .ramp_s = 8e-6, .ramp_growth = 0.1};
  constants.tcp_pair = 3;
  constants.tcp_neighbour = 0.04;
  constants.tcp_shared_nic = 0.08;
  constants.ramp_exponent = 0.7;
  return constants;
}

TEST(Constants, AreThoseOfTheLinksKind) {
  const hw::Catalog catalog = hw::load_catalog();
  const Link nvswitch = tuned(hw::find_link(catalog, "nvswitch3"), some());
  EXPECT_EQ(nvswitch.efficiency, 0.5);
  EXPECT_EQ(nvswitch.latency, Seconds{3e-6});
  EXPECT_EQ(nvswitch.ramp, Seconds{4e-6});
  EXPECT_EQ(nvswitch.chain, 0.2);
  EXPECT_EQ(nvswitch.peers, 0);
  EXPECT_EQ(tuned(hw::find_link(catalog, "nvlink3"), some()).peers, 3);
  const Link hdr = tuned(hw::find_link(catalog, "8xhdr"), some());
  EXPECT_EQ(hdr.ramp_growth, 0.1);
  EXPECT_EQ(hdr.nics, 8);
  const Link tcp = tuned(hw::find_link(catalog, "50gbe"), some());
  EXPECT_EQ(tcp.pair, 3);
  EXPECT_EQ(tcp.latency, Seconds{27e-6});
  EXPECT_EQ(tcp.neighbour, 0.04);
  EXPECT_EQ(tcp.shared_nic, 0.08);
}

TEST(Constants, LeaveOtherLinksAlone) {
  const hw::Catalog catalog = hw::load_catalog();
  EXPECT_EQ(tuned(hw::find_link(catalog, "pcie3-x16"), some()).efficiency, 0.66);
  EXPECT_EQ(tuned(hw::find_link(catalog, "efa"), some()).efficiency, 0.85);
  // A link that a user described and happened to call so.
  const hw::Link own =
      hw::parse_link(R"({"name": "hdr", "bytes_per_s": 1e9})", "link", {}, nullptr);
  EXPECT_EQ(tuned(own, some()).efficiency, own.efficiency);
  // What no description says holds for every link.
  EXPECT_EQ(tuned(own, some()).ramp_exponent, 0.7);
  EXPECT_EQ(tuned(own, some()).shared_nic, 0.08);
  EXPECT_EQ(tuned(own, some()).neighbour, 0.08);
}

// A link with a ramp is one that NCCL was measured on or is assumed to treat alike; EFA and
// Omni-Path have numbers of their own.
TEST(Constants, EveryLinkOfTheCatalogWithARampHasSome) {
  for (const hw::LinkEntry& entry : hw::load_catalog().links) {
    const std::string& name = entry.link.name;
    if (entry.link.ramp == Seconds{0} || name == "efa" || name == "omni-path") continue;
    EXPECT_EQ(tuned(entry.link, some()).efficiency, entry.network ? 0.25 : 0.5) << entry.link.name;
  }
}

}  // namespace
}  // namespace foretrain::comm
