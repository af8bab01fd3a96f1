// SPDX-License-Identifier: Apache-2.0
#include "foretrain/hw/catalog.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "foretrain/base/error.h"
#include "foretrain/hw/load_catalog.h"

namespace foretrain::hw {
namespace {

const Catalog& catalog() {
  static const Catalog loaded = load_catalog();
  return loaded;
}

Device device(std::string_view name) { return find_device(catalog(), name, nullptr); }

std::string complaint(ErrorKind kind, const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(FindDevice, TakesTheNameAsItIs) {
  std::vector<std::string> assumptions;
  EXPECT_EQ(find_device(catalog(), "v100-sxm2-16gb", &assumptions).name, "v100-sxm2-16gb");
  EXPECT_EQ(find_device(catalog(), "Tesla V100-SXM2-16GB", &assumptions).name, "v100-sxm2-16gb");
  EXPECT_TRUE(assumptions.empty());
}

TEST(FindDevice, NotesWhatAnAliasIsTakenAs) {
  std::vector<std::string> assumptions;
  EXPECT_EQ(find_device(catalog(), "a100", &assumptions).name, "a100-sxm4-80gb");
  EXPECT_EQ(assumptions, std::vector<std::string>{"device 'a100' taken as a100-sxm4-80gb"});
}

TEST(FindDevice, KnowsTheNamesThatDriversReport) {
  const std::map<std::string, std::string> names{{"NVIDIA A100 80GB PCIe", "a100-pcie-80gb"},
                                                 {"NVIDIA A100-PCIE-40GB", "a100-pcie-40gb"},
                                                 {"NVIDIA A100-SXM4-40GB", "a100-sxm4-40gb"},
                                                 {"Tesla P100-PCIE-16GB", "p100-pcie-16gb"},
                                                 {"Tesla V100-PCIE-32GB", "v100-pcie-32gb"},
                                                 {"GeForce RTX 2080 Ti", "rtx-2080-ti"},
                                                 {"TITAN Xp", "titan-xp"},
                                                 {"TITAN RTX", "titan-rtx"},
                                                 {"NVIDIA L4", "l4"},
                                                 {"AMD Instinct MI210", "mi210"},
                                                 {"Tesla T4", "t4"},
                                                 {"NVIDIA H100 80GB HBM3", "h100-sxm5-80gb"}};
  for (const auto& [reported, name] : names) EXPECT_EQ(device(reported).name, name);
}

TEST(FindDevice, ListsNearMatches) {
  const std::string message = complaint(ErrorKind::NotFound, [] { device("v100-sxm2-16g"); });
  EXPECT_TRUE(contains(message, "did you mean 'v100-sxm2-16gb'")) << message;
  EXPECT_TRUE(contains(complaint(ErrorKind::NotFound, [] { device("abacus-9000-quipu"); }),
                       "`foretrain devices` lists"));
}

// 85 GFLOP/s, 10 GB/s and 8 GiB for each core; one socket reaches 204.8 GB/s.
TEST(FindDevice, BuildsACpuFromItsCores) {
  const Device two = device("cpu:cores=2");
  EXPECT_TRUE(is_cpu(two));
  EXPECT_EQ(two.name, "cpu:cores=2");
  EXPECT_EQ(two.sms, 2);
  EXPECT_DOUBLE_EQ(two.fp32_flops_per_s, 170e9);
  EXPECT_DOUBLE_EQ(two.memory_bytes_per_s, 20e9);
  EXPECT_DOUBLE_EQ(device("cpu:cores=256").memory_bytes_per_s, 204.8e9);
  const Device half = device("cpu:cores=0.5");
  EXPECT_DOUBLE_EQ(half.fp32_flops_per_s, 42.5e9);
  EXPECT_DOUBLE_EQ(half.memory_bytes_per_s, 5e9);
  EXPECT_DOUBLE_EQ(*half.boost_clock_hz, 1.325e9);
  EXPECT_EQ(half.sms, 1);
  EXPECT_EQ(half.core_share, 0.5);
  std::vector<std::string> assumptions;
  EXPECT_EQ(find_device(catalog(), "cpu", &assumptions).sms, 16);
  EXPECT_EQ(assumptions.size(), 1U);
}

TEST(FindDevice, RefusesOtherCpus) {
  for (const char* name : {"cpu:", "cpu:cores=", "cpu:cores=0", "cpu:cores=257", "cpu:cores=1.5",
                           "cpu:cores=-1", "cpu:cores=2x", "cpu:cores=1e2", "cpu:ghz=3"}) {
    EXPECT_TRUE(contains(complaint(ErrorKind::BadInput, [name] { device(name); }), "cpu:cores=N"))
        << name;
  }
}

TEST(FindLink, TakesCountsAndRates) {
  // 4 x 200 Gb/s / 8 x 0.93 = 93 GB/s.
  const Link hdr = find_link(catalog(), "4xhdr");
  EXPECT_EQ(hdr.name, "4xhdr");
  EXPECT_EQ(hdr.nics, 4);
  EXPECT_DOUBLE_EQ(node_bytes_per_s(hdr), 93e9);
  // 12.5 Gb/s / 8 = 1.5625 GB/s.
  const Link plain = find_link(catalog(), "12.5gbps");
  EXPECT_DOUBLE_EQ(plain.bytes_per_s, 1.5625e9);
  EXPECT_FALSE(plain.rdma);
  EXPECT_EQ(find_link(catalog(), "2x50gbps").nics, 2);
  EXPECT_DOUBLE_EQ(find_link(catalog(), "100mbps").bytes_per_s, 12.5e6);
}

TEST(FindLink, RefusesWhatItDoesNotKnow) {
  const auto find = [](const char* name) { return [name] { find_link(catalog(), name); }; };
  EXPECT_TRUE(contains(complaint(ErrorKind::NotFound, find("edrr")), "did you mean 'edr'"));
  EXPECT_TRUE(contains(complaint(ErrorKind::NotFound, find("telepathy")), "lists what is known"));
  EXPECT_TRUE(contains(complaint(ErrorKind::NotFound, find("400 Gb/s")), "written as 50gbps"));
  for (const char* name :
       {"", "x", "4x", "xhdr", "gbps", "nangbps", "infgbps", "4x4xhdr", "1e3gbps"}) {
    EXPECT_FALSE(complaint(ErrorKind::NotFound, find(name)).empty()) << name;
  }
  for (const char* name : {"0xhdr", "0x1pgbps", "-5gbps", "65xhdr", "99999999999999999999xhdr",
                           "0gbps", "1000000gbps", "2xpcie3-x16", "nvswitch", "nvlink"}) {
    EXPECT_FALSE(complaint(ErrorKind::BadInput, find(name)).empty()) << name;
  }
}

TEST(FindIntraNode, TakesTheDevicesOwnGeneration) {
  const auto joined = [](const char* name, const char* of) {
    return find_intra_node(catalog(), name, device(of), nullptr).name;
  };
  EXPECT_EQ(joined("nvswitch", "v100-sxm3-32gb"), "nvswitch2");
  EXPECT_EQ(joined("nvswitch", "a100"), "nvswitch3");
  EXPECT_EQ(joined("nvswitch", "h100"), "nvswitch4");
  EXPECT_EQ(joined("nvswitch", "b200"), "nvswitch5");
  EXPECT_EQ(joined("nvlink", "p100-sxm2-16gb"), "nvlink1");
  EXPECT_EQ(joined("pcie3-x16", "a100"), "pcie3-x16");
  for (const char* of : {"t4", "rtx-3090", "p100-sxm2-16gb", "mi250", "cpu"}) {
    EXPECT_TRUE(
        contains(complaint(ErrorKind::BadInput, [&] { joined("nvswitch", of); }), "nvswitch"));
  }
}

TEST(FindIntraNode, NotesTheDevicesDefault) {
  std::vector<std::string> assumptions;
  EXPECT_EQ(find_intra_node(catalog(), "", device("v100"), &assumptions).name, "nvlink2");
  EXPECT_EQ(assumptions.size(), 1U);
}

TEST(FindIntraNode, PassesThroughTheHostWithoutPeerAccess) {
  std::vector<std::string> assumptions;
  const Link link = find_intra_node(catalog(), "pcie3-x16", device("rtx-2080-ti"), &assumptions);
  EXPECT_FALSE(link.peer_access);
  EXPECT_EQ(assumptions.size(), 1U);
  EXPECT_TRUE(
      find_intra_node(catalog(), "nvlink2-bridge", device("rtx-2080-ti"), nullptr).peer_access);
}

TEST(FindInstance, WorksWithAndWithoutTheProvider) {
  EXPECT_EQ(find_instance(catalog(), "p3.16xlarge").devices, 8);
  EXPECT_EQ(find_instance(catalog(), "aws:p3.16xlarge").device, "v100-sxm2-16gb");
  EXPECT_EQ(find_instance(catalog(), "azure:ND96asr_v4").device, "a100-sxm4-40gb");
  EXPECT_TRUE(
      contains(complaint(ErrorKind::NotFound, [] { find_instance(catalog(), "aws:p3.16large"); }),
               "did you mean 'p3.16xlarge'"));
  EXPECT_TRUE(
      contains(complaint(ErrorKind::NotFound, [] { find_instance(catalog(), "aws/p3.16xlarge"); }),
               "p3.16xlarge'?"));
}

// 50 Gb/s nominal is 5.8 GB/s of payload, but one TCP flow there carries 5 Gb/s.
TEST(FindInstance, KnowsTheFlowCapThatIsDocumented) {
  EXPECT_DOUBLE_EQ(node_bytes_per_s(find_instance(catalog(), "g4dn.12xlarge").network), 0.625e9);
}

TEST(CheapestInstance, GivesTheDeviceItsPrice) {
  const Instance* cheapest = cheapest_instance(catalog(), "t4");
  ASSERT_NE(cheapest, nullptr);
  for (const Instance& instance : catalog().instances) {
    if (instance.device == "t4") {
      EXPECT_GE(price_per_device_hour_usd(instance), price_per_device_hour_usd(*cheapest));
    }
  }
  EXPECT_EQ(device("t4").price_per_hour_usd, price_per_device_hour_usd(*cheapest));
  EXPECT_EQ(device("rtx-2080-ti").price_per_hour_usd, std::nullopt);
  EXPECT_EQ(cheapest_instance(catalog(), "t4", "aws")->provider, "aws");
  EXPECT_EQ(cheapest_instance(catalog(), "t4", "lambda"), nullptr);
  EXPECT_TRUE(contains(
      complaint(ErrorKind::NotFound, [] { cheapest_instance(catalog(), "t4", "awz"); }), "'aws'"));
}

}  // namespace
}  // namespace foretrain::hw
