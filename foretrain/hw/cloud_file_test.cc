// SPDX-License-Identifier: Apache-2.0
#include "foretrain/hw/detail/cloud_file.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"

namespace foretrain::hw {
namespace {

Catalog small_catalog() {
  Catalog catalog;
  catalog.devices.push_back({Device{.name = "fast", .intra_node = "wire"}, {"f"}, {}});
  catalog.links.push_back({Link{.name = "wire", .bytes_per_s = 5e9}, {}, false, {}});
  catalog.links.push_back({Link{.name = "net", .bytes_per_s = 1e9, .rdma = false}, {}, true, {}});
  return catalog;
}

// A cloud with one instance, to whose fields `more` is added.
std::string cloud(const std::string& devices, const std::string& more = "") {
  return R"({"provider": "c", "region": "r", "price_date": "2024-12", "price_source": "list",
             "machine_source": "sizes", "instances": [{"name": "big", "device": "f", "devices": )" +
         devices + R"(, "intra_node": "wire", "network": "2xnet", "price_per_hour_usd": 8)" + more +
         "}]}";
}

void expect_error(const std::string& text, ErrorKind kind, const std::string& part) {
  try {
    parse_cloud(text, "cloud c", small_catalog());
    ADD_FAILURE() << "no error for " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(ParseCloud, ReadsAnInstance) {
  const std::vector<Instance> instances =
      parse_cloud(cloud("4", R"(, "flow_cap_bytes_per_s": {"value": 5e8, "source": "iperf"})"),
                  "cloud c", small_catalog());
  ASSERT_EQ(instances.size(), 1U);
  const Instance& big = instances[0];
  EXPECT_EQ(big.provider, "c");
  EXPECT_EQ(big.name, "big");
  EXPECT_EQ(big.device, "fast");
  EXPECT_EQ(big.intra_node.name, "wire");
  EXPECT_DOUBLE_EQ(node_bytes_per_s(big.network), 1e9);  // two NICs, each capped at 0.5 GB/s
  EXPECT_DOUBLE_EQ(price_per_device_hour_usd(big), 2);
  EXPECT_EQ(big.price_date, "2024-12");
}

// The provider's limits hold for all of its sockets; an instance's own come first.
TEST(ParseCloud, KnowsAProvidersSocketsAndHosts) {
  const auto parse = [](const std::string& more) {
    std::string text = cloud("1", more);
    text.insert(1, R"("flow_cap_bytes_per_s": {"value": 6e8, "source": "guide"},
                      "tcp_latency_s": {"value": 5e-5, "source": "guide"},
                      "hosts": {"Xeon": {"value": 0.9, "source": "guide"}}, )");
    return parse_cloud(text, "cloud c", small_catalog()).front();
  };
  EXPECT_EQ(parse("").network.flow_cap_bytes_per_s, 6e8);
  EXPECT_EQ(parse("").network.latency, Seconds{5e-5});
  EXPECT_FALSE(parse("").host_speed);
  const Instance own =
      parse(R"(, "cpu": "Xeon", "flow_cap_bytes_per_s": {"value": 5e8, "source": "iperf"})");
  EXPECT_EQ(own.network.flow_cap_bytes_per_s, 5e8);
  EXPECT_EQ(own.host_speed, 0.9);
  EXPECT_THROW(parse(R"(, "cpu": "other")"), Error);
}

TEST(ParseCloud, RefusesWhatIsNoInstance) {
  expect_error("{}", ErrorKind::BadInput, "provider");
  expect_error(cloud("0"), ErrorKind::BadInput, "'devices' is out of range");
  expect_error(cloud("1.5"), ErrorKind::BadInput, "devices");
  expect_error(cloud("1", R"(, "colour": "red")"), ErrorKind::BadInput, "colour");
  expect_error(cloud("1", R"(, "flow_cap_bytes_per_s": {"value": 5e8})"), ErrorKind::BadInput,
               "source");
  std::string other = cloud("1");
  other.replace(other.find("\"f\""), 3, "\"g\"");
  expect_error(other, ErrorKind::NotFound, "unknown device 'g'");
}

}  // namespace
}  // namespace foretrain::hw
