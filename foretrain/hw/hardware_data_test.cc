// SPDX-License-Identifier: Apache-2.0
// Laws that every file of data/hardware/ obeys.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "foretrain/base/near.h"
#include "foretrain/hw/catalog.h"
#include "foretrain/hw/load_catalog.h"

namespace foretrain::hw {
namespace {

constexpr double kGiB = 1 << 30;

const Catalog& catalog() {
  static const Catalog loaded = load_catalog();
  return loaded;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <typename Entry>
void expect_sources(const Entry& entry, const std::string& name) {
  EXPECT_FALSE(entry.sources.empty()) << name;
  for (const Source& source : entry.sources) {
    if (source.field == "name") continue;
    EXPECT_GE(source.text.size(), 10U) << name << ": " << source.field << " has no source";
  }
}

TEST(HardwareData, EveryValueHasASource) {
  for (const DeviceEntry& entry : catalog().devices) expect_sources(entry, entry.device.name);
  for (const LinkEntry& entry : catalog().links) expect_sources(entry, entry.link.name);
  for (const Instance& instance : catalog().instances) {
    EXPECT_FALSE(instance.price_source.empty()) << instance.name;
    EXPECT_FALSE(instance.machine_source.empty()) << instance.name;
    EXPECT_EQ(instance.price_date.size(), 7U) << instance.name;
  }
}

TEST(HardwareData, FilesAreNamedAfterWhatTheyHoldAndLeaveNothingToAssume) {
  std::set<std::string> devices, links;
  for (const DeviceEntry& entry : catalog().devices) devices.insert(entry.device.name);
  for (const LinkEntry& entry : catalog().links) links.insert(entry.link.name);
  std::size_t count = 0;
  for (const auto& file : std::filesystem::directory_iterator("data/hardware/devices")) {
    std::vector<std::string> assumptions;
    const Device device = parse_device(text_of(file.path()), file.path().string(), &assumptions);
    EXPECT_EQ(device.name, file.path().stem().string());
    EXPECT_TRUE(assumptions.empty()) << assumptions.front();
    ++count;
  }
  EXPECT_EQ(count, devices.size());
  for (const auto& file : std::filesystem::directory_iterator("data/hardware/links")) {
    EXPECT_TRUE(links.contains(file.path().stem().string())) << file.path();
  }
}

TEST(HardwareData, ANameOrAliasMeansOneThing) {
  std::set<std::string> devices, links;
  for (const DeviceEntry& entry : catalog().devices) {
    EXPECT_TRUE(devices.insert(entry.device.name).second) << entry.device.name;
    for (const std::string& alias : entry.aliases) {
      EXPECT_TRUE(devices.insert(alias).second) << alias;
      EXPECT_EQ(find_device(catalog(), alias, nullptr).name, entry.device.name);
    }
  }
  for (const LinkEntry& entry : catalog().links) {
    EXPECT_TRUE(links.insert(entry.link.name).second) << entry.link.name;
    EXPECT_EQ(find_link(catalog(), entry.link.name).name, entry.link.name);
    for (const std::string& alias : entry.aliases) {
      EXPECT_TRUE(links.insert(alias).second) << alias;
      EXPECT_EQ(find_link(catalog(), alias).name, entry.link.name);
    }
  }
}

TEST(HardwareData, DevicesNameLinksThatExist) {
  for (const DeviceEntry& entry : catalog().devices) {
    EXPECT_NO_THROW(find_link(catalog(), entry.device.intra_node)) << entry.device.name;
    EXPECT_NO_THROW(find_link(catalog(), entry.device.host_link)) << entry.device.name;
    EXPECT_EQ(
        entry.device.pcie_peer_access || !find_link(catalog(), entry.device.intra_node).peer_access,
        true)
        << entry.device.name;
  }
}

// A multiply-add per core and cycle; datasheets round, so 3 %.
TEST(HardwareData, Fp32PeakIsCoresTimesClock) {
  for (const DeviceEntry& entry : catalog().devices) {
    const Device& d = entry.device;
    if (!d.boost_clock_hz) continue;
    const double peak = 2.0 * d.sms * d.fp32_cores_per_sm * *d.boost_clock_hz;
    EXPECT_NEAR(d.fp32_flops_per_s / peak, 1, 0.03) << d.name;
  }
}

// Rates stand in simple ratios to each other; 3 % for rounding.
TEST(HardwareData, TensorPeaksStandInTheKnownRatios) {
  for (const DeviceEntry& entry : catalog().devices) {
    const Device& d = entry.device;
    if (d.tensor_fp16_flops_per_s) {
      EXPECT_GT(*d.tensor_fp16_flops_per_s, 1.9 * d.fp32_flops_per_s) << d.name;
    }
    if (d.tensor_tf32_flops_per_s) {
      EXPECT_NEAR(*d.tensor_fp16_flops_per_s / *d.tensor_tf32_flops_per_s, 2, 0.06) << d.name;
    }
    if (d.tensor_fp8_flops_per_s) {
      EXPECT_NEAR(*d.tensor_fp8_flops_per_s / *d.tensor_fp16_flops_per_s, 2, 0.06) << d.name;
    }
    if (d.vendor == "nvidia" && d.tensor_bf16_flops_per_s) {
      EXPECT_EQ(d.tensor_bf16_flops_per_s, d.tensor_fp16_flops_per_s) << d.name;
    }
    if (d.fp64_flops_per_s) {
      // Few fp64 units leave power to spare, which alone lowers a Max-Q board's clock: its rate of
      // fp64 is at 1.68 GHz, that of fp32 at 1.185.
      const double clocks = d.name == "rtx-2060-max-q" ? 1.68 / 1.185 : 1;
      const double share = clocks * d.fp32_flops_per_s / *d.fp64_flops_per_s;
      const std::vector<double> known{1, 2, 3, 16, 32, 64};
      EXPECT_TRUE(std::any_of(known.begin(), known.end(), [share](double r) {
        return std::abs(share / r - 1) < 0.03;
      })) << d.name;
    }
  }
}

TEST(HardwareData, ArchitecturesHaveTheirFormats) {
  const std::set<std::string> tensor{"volta", "turing", "ampere", "ada", "hopper", "blackwell"};
  const std::set<std::string> bf16{"ampere", "ada", "hopper", "blackwell"};
  const std::set<std::string> fp8{"ada", "hopper", "blackwell"};
  for (const DeviceEntry& entry : catalog().devices) {
    const Device& d = entry.device;
    if (d.vendor != "nvidia") continue;
    EXPECT_EQ(d.tensor_fp16_flops_per_s.has_value(), tensor.contains(d.architecture)) << d.name;
    EXPECT_EQ(matrix_peak(d, Precision::Bf16).has_value(), bf16.contains(d.architecture)) << d.name;
    EXPECT_EQ(matrix_peak(d, Precision::Tf32).has_value(), bf16.contains(d.architecture)) << d.name;
    EXPECT_EQ(matrix_peak(d, Precision::Fp8).has_value(), fp8.contains(d.architecture)) << d.name;
  }
}

// Least and greatest bandwidth that boards with such memory have had, bytes per second.
TEST(HardwareData, MemoryIsAsFastAsItsKind) {
  const std::map<std::string, std::pair<double, double>> range{
      {"ddr4", {5e9, 300e9}},      {"ddr5", {60e9, 130e9}},    {"lpddr5", {60e9, 130e9}},
      {"gddr5", {150e9, 350e9}},   {"gddr5x", {300e9, 560e9}}, {"gddr6", {250e9, 1000e9}},
      {"gddr6x", {500e9, 1100e9}}, {"gddr7", {400e9, 1800e9}}, {"hbm2", {500e9, 1600e9}},
      {"hbm2e", {1600e9, 2100e9}}, {"hbm3", {3000e9, 5500e9}}, {"hbm3e", {4500e9, 8500e9}}};
  for (const DeviceEntry& entry : catalog().devices) {
    const Device& d = entry.device;
    ASSERT_TRUE(range.contains(d.memory_type)) << d.name << ' ' << d.memory_type;
    const auto [low, high] = range.at(d.memory_type);
    EXPECT_TRUE(d.memory_bytes_per_s >= low && d.memory_bytes_per_s <= high) << d.name;
    EXPECT_TRUE(d.memory_bytes >= 4 * kGiB && d.memory_bytes <= 288 * kGiB) << d.name;
    EXPECT_TRUE(!d.ecc_bytes || *d.ecc_bytes * 16 == d.memory_bytes) << d.name;
  }
}

TEST(HardwareData, ProcessFitsTheArchitecture) {
  const std::map<std::string, std::set<std::string>> known{
      {"kepler", {"28nm"}}, {"maxwell", {"28nm"}},     {"pascal", {"16nm"}},
      {"volta", {"12nm"}},  {"turing", {"12nm"}},      {"ampere", {"7nm", "8nm"}},
      {"ada", {"4n"}},      {"hopper", {"4n"}},        {"blackwell", {"4n"}},
      {"cdna", {"7nm"}},    {"cdna2", {"6nm"}},        {"cdna3", {"5nm"}},
      {"rdna", {"7nm"}},    {"rdna2", {"7nm", "6nm"}}, {"rdna3", {"6nm", "5nm", "4nm"}},
      {"x86", {"14nm"}}};
  for (const DeviceEntry& entry : catalog().devices) {
    const Device& d = entry.device;
    ASSERT_TRUE(known.contains(d.architecture)) << d.name;
    EXPECT_TRUE(known.at(d.architecture).contains(d.process)) << d.name;
    EXPECT_TRUE(is_cpu(d) || (d.tdp_w >= 50 && d.tdp_w <= 1200)) << d.name;
  }
}

TEST(HardwareData, LinksReachLessThanTheirNominalRate) {
  for (const LinkEntry& entry : catalog().links) {
    const Link& link = entry.link;
    EXPECT_TRUE(link.efficiency > 0.1 && link.efficiency < 1) << link.name;
    EXPECT_TRUE(link.latency >= Seconds{1e-6} && link.latency <= Seconds{50e-6}) << link.name;
    EXPECT_LE(link.ramp, Seconds{1e-3}) << link.name;
    EXPECT_EQ(link.nics, 1) << link.name;
    EXPECT_TRUE(!entry.network || link.switched) << link.name;
  }
}

TEST(HardwareData, InstancesAreJoinedByWhatFitsThem) {
  std::set<std::string> networks;
  for (const LinkEntry& entry : catalog().links) {
    if (entry.network) networks.insert(entry.link.name);
  }
  std::set<std::pair<std::string, std::string>> seen;
  for (const Instance& instance : catalog().instances) {
    EXPECT_TRUE(seen.insert({instance.provider, instance.name}).second) << instance.name;
    EXPECT_EQ(find_device(catalog(), instance.device, nullptr).name, instance.device);
    EXPECT_FALSE(networks.contains(instance.intra_node.name)) << instance.name;
    const double price = price_per_device_hour_usd(instance);
    EXPECT_TRUE(price > 0.3 && price < 15) << instance.name;
    EXPECT_EQ(find_instance(catalog(), instance.provider + ":" + instance.name).name,
              instance.name);
  }
}

// The figures on which the fits of docs/models/ rest.
TEST(HardwareData, HoldsTheFittedRates) {
  const auto rate = [](const char* name) { return node_bytes_per_s(find_link(catalog(), name)); };
  EXPECT_NEAR(rate("nvswitch3"), 248e9, 1e9);
  EXPECT_NEAR(rate("nvswitch4"), 372e9, 1e9);
  EXPECT_NEAR(rate("nvswitch5"), 745e9, 1e9);
  EXPECT_NEAR(rate("nvlink3"), 216e9, 1e9);
}

// All-reduce of two RTX 2080 Ti through host memory, 4.0 GB/s; both directions at once between two
// RTX 4090 with peer access, 20.7 GB/s; and twice the lanes' rate is twice what transfers reach.
TEST(HardwareData, PcieReachesTheSameShareInEveryGeneration) {
  const auto rate = [](const char* name) { return node_bytes_per_s(find_link(catalog(), name)); };
  EXPECT_NEAR(rate("pcie3-x16-no-peer"), 4.0e9, 0.1e9);
  EXPECT_NEAR(rate("pcie4-x16"), 20.7e9, 0.1e9);
  EXPECT_NEAR(rate("pcie4-x16") / rate("pcie3-x16"), 2, 0.01);
  EXPECT_NEAR(rate("pcie5-x16") / rate("pcie4-x16"), 2, 0.01);
  EXPECT_NEAR(rate("pcie4-x16-no-peer") / rate("pcie3-x16-no-peer"), 2, 0.01);
}

// What Amazon documents of one flow: 5 Gb/s. RDMA has no such limit.
TEST(HardwareData, LimitsFlowsByProvider) {
  const Instance& t4 = find_instance(catalog(), "g4dn.12xlarge");
  EXPECT_EQ(t4.network.flow_cap_bytes_per_s, 0.625e9);
  EXPECT_FALSE(find_instance(catalog(), "p4d.24xlarge").network.flow_cap_bytes_per_s);
}

}  // namespace
}  // namespace foretrain::hw
