// SPDX-License-Identifier: Apache-2.0
#include "foretrain/hw/link.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"

namespace foretrain::hw {
namespace {

constexpr AssumedLink kAssumed{
    .efficiency = 0.93, .tcp_latency = Seconds{27e-6}, .rdma_latency = Seconds{7e-6}};

// What parse_link complains about; "" where it does not.
std::string complaint(std::string_view text) {
  try {
    parse_link(text, "network", kAssumed, nullptr);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    return error.what();
  }
  return "";
}

// 4 NICs of 25 GB/s at 0.93: 93 GB/s.
TEST(NodeRate, AddsUpWhatEachNicReaches) {
  const Link link{.bytes_per_s = 25e9, .efficiency = 0.93, .nics = 4};
  EXPECT_DOUBLE_EQ(node_bytes_per_s(link), 93e9);
}

// 0.93 x 6.25 GB/s = 5.8 GB/s is more than a flow of 0.6 GB/s carries; two NICs carry two flows.
TEST(NodeRate, IsLimitedByTheFlowCapOfEachNic) {
  Link link{.bytes_per_s = 6.25e9, .efficiency = 0.93, .flow_cap_bytes_per_s = 0.6e9};
  EXPECT_DOUBLE_EQ(node_bytes_per_s(link), 0.6e9);
  link.nics = 2;
  EXPECT_DOUBLE_EQ(node_bytes_per_s(link), 1.2e9);
}

TEST(NodeRate, DoesNotFeelACapAboveTheLink) {
  const Link link{.bytes_per_s = 1e9, .efficiency = 0.5, .flow_cap_bytes_per_s = 2e9};
  EXPECT_DOUBLE_EQ(node_bytes_per_s(link), 0.5e9);
}

TEST(ParseLink, ReadsEveryField) {
  std::vector<std::string> assumptions;
  const Link link = parse_link(
      R"({"name": "lab", "bytes_per_s": 6.25e9, "latency_s": 1e-5, "nics": 2, "rdma": false,
          "flow_cap_bytes_per_s": {"value": 1.2e9, "source": "iperf"}, "efficiency": 0.9,
          "ramp_s": 2e-5, "switched": false, "peer_access": false})",
      "network", kAssumed, &assumptions);
  EXPECT_EQ(link.name, "lab");
  EXPECT_EQ(link.bytes_per_s, 6.25e9);
  EXPECT_EQ(link.latency, Seconds{1e-5});
  EXPECT_EQ(link.nics, 2);
  EXPECT_FALSE(link.rdma);
  EXPECT_EQ(link.flow_cap_bytes_per_s, 1.2e9);
  EXPECT_EQ(link.efficiency, 0.9);
  EXPECT_EQ(link.ramp, Seconds{2e-5});
  EXPECT_FALSE(link.switched);
  EXPECT_FALSE(link.peer_access);
  EXPECT_TRUE(assumptions.empty());
}

TEST(ParseLink, StatesWhatItAssumes) {
  std::vector<std::string> assumptions;
  const Link link = parse_link(R"({"bytes_per_s": 1e9})", "network", kAssumed, &assumptions);
  EXPECT_TRUE(link.rdma);
  EXPECT_EQ(link.ramp, Seconds{0});
  ASSERT_EQ(assumptions.size(), 1U);
  EXPECT_NE(assumptions[0].find("latency of 7 us"), std::string::npos);
  EXPECT_NE(assumptions[0].find("0.93"), std::string::npos);
}

TEST(ParseLink, TakesAFlowCapAsTcp) {
  const Link link = parse_link(R"({"bytes_per_s": 1e9, "flow_cap_bytes_per_s": 5e8})", "network",
                               kAssumed, nullptr);
  EXPECT_FALSE(link.rdma);
  EXPECT_EQ(link.latency, Seconds{27e-6});
}

TEST(ParseLink, RefusesWhatNoLinkHas) {
  EXPECT_NE(complaint(R"({"latency_s": 1e-6})").find("'bytes_per_s' is missing"),
            std::string::npos);
  EXPECT_NE(complaint(R"({"bytes_per_s": 0})").find("outside"), std::string::npos);
  EXPECT_NE(complaint(R"({"bytes_per_s": -1e9})").find("outside"), std::string::npos);
  EXPECT_NE(complaint(R"({"bytes_per_s": 1e300})").find("outside"), std::string::npos);
  EXPECT_NE(complaint(R"({"bytes_per_s": "fast"})").find("must be a number"), std::string::npos);
  EXPECT_NE(complaint(R"({"bytes_per_s": 1e9, "nics": 65})").find("outside"), std::string::npos);
  EXPECT_NE(complaint(R"({"bytes_per_s": 1e9, "nics": 1.5})").find("whole"), std::string::npos);
  EXPECT_NE(complaint(R"({"bytes_per_s": 1e9, "latency_s": -1})").find("outside"),
            std::string::npos);
  EXPECT_NE(complaint(R"({"bytes_per_s": 1e9, "efficiency": 1.1})").find("outside"),
            std::string::npos);
  EXPECT_NE(complaint(R"([1])").find("object"), std::string::npos);
}

TEST(ParseLink, RefusesAFlowCapWithRdma) {
  const std::string text = R"({"bytes_per_s": 1e9, "rdma": true, "flow_cap_bytes_per_s": 5e8})";
  EXPECT_NE(complaint(text).find("TCP"), std::string::npos);
}

TEST(ParseLink, NamesTheNearestKnownField) {
  EXPECT_NE(complaint(R"({"bytes_per_s": 1e9, "latency": 1})").find("latency_s"),
            std::string::npos);
}

}  // namespace
}  // namespace foretrain::hw
