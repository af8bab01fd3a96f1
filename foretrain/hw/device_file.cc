// SPDX-License-Identifier: Apache-2.0
#include "foretrain/hw/detail/device_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::hw {
namespace {

// Bounds far outside of what exists: they catch slips of unit, not unusual devices.
constexpr double kLeastRate = 1e6, kMostRate = 1e18;      // FLOP/s
constexpr double kLeastMemory = 1e6, kMostMemory = 1e15;  // bytes; bytes per second
constexpr double kLeastPower = 1e-3, kMostPower = 1e5;    // watts
constexpr int kMostSms = 1'000'000;
constexpr int kMostCores = 4096;

struct Rate {
  std::string_view field;
  std::optional<double> Device::*member;
};
constexpr std::array kRates{
    Rate{"fp64_flops_per_s", &Device::fp64_flops_per_s},
    Rate{"fp16_flops_per_s", &Device::fp16_flops_per_s},
    Rate{"tensor_fp16_flops_per_s", &Device::tensor_fp16_flops_per_s},
    Rate{"tensor_bf16_flops_per_s", &Device::tensor_bf16_flops_per_s},
    Rate{"tensor_tf32_flops_per_s", &Device::tensor_tf32_flops_per_s},
    Rate{"tensor_fp8_flops_per_s", &Device::tensor_fp8_flops_per_s},
    Rate{"tensor_fp32_flops_per_s", &Device::tensor_fp32_flops_per_s},
    Rate{"tensor_fp64_flops_per_s", &Device::tensor_fp64_flops_per_s},
    Rate{"sustained_gemm_flops_per_s", &Device::sustained_gemm_flops_per_s},
};

constexpr auto kFields = std::to_array<std::string_view>({
    "name",
    "vendor",
    "architecture",
    "fp32_flops_per_s",
    "fp64_flops_per_s",
    "fp16_flops_per_s",
    "tensor_fp16_flops_per_s",
    "tensor_bf16_flops_per_s",
    "tensor_tf32_flops_per_s",
    "tensor_fp8_flops_per_s",
    "tensor_fp32_flops_per_s",
    "tensor_fp64_flops_per_s",
    "sustained_gemm_flops_per_s",
    "boost_clock_hz",
    "memory_bytes",
    "memory_bytes_per_s",
    "memory_type",
    "ecc_bytes",
    "sms",
    "fp32_cores_per_sm",
    "l2_bytes",
    "tdp_w",
    "process",
    "intra_node",
    "host_link",
    "pcie_peer_access",
    "context_bytes",
    "price_per_hour_usd",
});

bool is_hbm(const Device& device) { return device.memory_type.starts_with("hbm"); }

// What an architecture's devices have in common; from the catalog.
std::string usual_vendor(const std::string& architecture) {
  if (architecture == "x86" || architecture == "arm") return "cpu";
  return architecture.starts_with("cdna") || architecture.starts_with("rdna") ? "amd" : "nvidia";
}

int usual_cores_per_sm(const Device& device) {
  const std::string& a = device.architecture;
  if (is_cpu(device)) return 16;
  if (a == "kepler") return 192;
  if (a == "pascal" || a == "ampere") return is_hbm(device) ? 64 : 128;
  if (a == "rdna" || a == "rdna2") return 64;
  return a == "volta" || a == "turing" || a.starts_with("cdna") ? 64 : 128;
}

std::string usual_process(const Device& device) {
  const std::string& a = device.architecture;
  if (is_cpu(device)) return "14nm";
  if (a == "kepler" || a == "maxwell") return "28nm";
  if (a == "pascal") return "16nm";
  if (a == "volta" || a == "turing") return "12nm";
  if (a == "ampere") return is_hbm(device) ? "7nm" : "8nm";
  if (a == "cdna" || a == "rdna" || a == "rdna2") return "7nm";
  if (a == "cdna2") return "6nm";
  return a == "cdna3" || a == "rdna3" ? "5nm" : "4n";
}

// Power at which neither vector nor tensor units are held back, by the least efficient of the
// catalog: 29 W per fp32 TFLOP/s (Kepler), 3 W per tensor TFLOP/s (Volta).
double ample_power(const Device& device) {
  const double tensor = std::max(
      {device.tensor_fp16_flops_per_s.value_or(0), device.tensor_bf16_flops_per_s.value_or(0),
       2 * device.tensor_tf32_flops_per_s.value_or(0), device.tensor_fp8_flops_per_s.value_or(0)});
  return std::max({40e-12 * device.fp32_flops_per_s, 4e-12 * tensor, 1.0});
}

// Collects what was chosen for missing fields into one line of the report.
class Choices {
 public:
  template <typename T>
  T operator()(std::optional<T> given, T usual, const std::string& said) {
    if (!given) text_ += (text_.empty() ? "" : ", ") + said;
    return given ? *std::move(given) : std::move(usual);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void read_kind(const FactSheet& sheet, Device& device, Choices& choose) {
  const std::optional<std::string> vendor = text(sheet, "vendor");
  const std::string architecture = vendor == "cpu" ? "x86" : vendor == "amd" ? "cdna2" : "ampere";
  device.architecture =
      choose(text(sheet, "architecture"), architecture, "architecture " + architecture);
  const std::string usual = usual_vendor(device.architecture);
  device.vendor = choose(vendor, usual, "vendor " + usual);
}

void read_memory(const FactSheet& sheet, Device& device, Choices& choose) {
  constexpr double kHbmFrom = 1.1e12;  // bytes per second; GDDR boards stay below
  device.memory_bytes = required_number(sheet, "memory_bytes", kLeastMemory, kMostMemory);
  device.memory_bytes_per_s =
      required_number(sheet, "memory_bytes_per_s", kLeastMemory, kMostMemory);
  const std::string type = is_cpu(device)                          ? "ddr4"
                           : device.memory_bytes_per_s >= kHbmFrom ? "hbm2e"
                                                                   : "gddr6";
  device.memory_type = choose(text(sheet, "memory_type"), type, "memory type " + type);
  device.ecc_bytes = number(sheet, "ecc_bytes", 0, device.memory_bytes / 2);
  device.context_bytes = number(sheet, "context_bytes", 0, kMostMemory);
}

// After rates and memory, on which the usual values rest.
void read_build(const FactSheet& sheet, Device& device, Choices& choose) {
  constexpr double kUsualClock = 1.6e9;
  constexpr double kCachePerSm = 96 * 1024;
  const int cores = usual_cores_per_sm(device);
  device.fp32_cores_per_sm = choose(integer(sheet, "fp32_cores_per_sm", 1, kMostCores), cores,
                                    std::to_string(cores) + " fp32 cores per SM");
  const double per_sm =
      2.0 * device.fp32_cores_per_sm * device.boost_clock_hz.value_or(kUsualClock);
  const int sms = static_cast<int>(
      std::clamp(std::round(device.fp32_flops_per_s / per_sm), 1.0, double{kMostSms}));
  device.sms = choose(integer(sheet, "sms", 1, kMostSms), sms, std::to_string(sms) + " SMs");
  const double cache = kCachePerSm * device.sms;
  device.l2_bytes = choose(number(sheet, "l2_bytes", 0, kMostMemory), cache,
                           std::to_string(std::lround(cache / 1024)) + " KiB of L2 cache");
  const double power = ample_power(device);
  device.tdp_w =
      choose(number(sheet, "tdp_w", kLeastPower, kMostPower), power, "no limit by power");
  const std::string process = usual_process(device);
  device.process = choose(text(sheet, "process"), process, "process " + process);
}

void read_links(const FactSheet& sheet, Device& device, Choices& choose) {
  const std::string link = is_cpu(device) ? "shared-memory" : "pcie4-x16";
  device.intra_node = choose(text(sheet, "intra_node"), link, "joined by " + link);
  device.host_link = choose(text(sheet, "host_link"), link, "host reached by " + link);
  device.pcie_peer_access = boolean(sheet, "pcie_peer_access").value_or(true);
}

}  // namespace

Device device_of(const FactSheet& sheet, std::vector<std::string>* assumptions) {
  check_fields(sheet, kFields);
  Device device;
  Choices choose;
  device.name = required_text(sheet, "name");
  device.fp32_flops_per_s = required_number(sheet, "fp32_flops_per_s", kLeastRate, kMostRate);
  for (const Rate& rate : kRates) {
    device.*rate.member = number(sheet, rate.field, kLeastRate, kMostRate);
  }
  device.boost_clock_hz = number(sheet, "boost_clock_hz", 1e6, 1e11);
  device.price_per_hour_usd = number(sheet, "price_per_hour_usd", 0, 1e6);
  read_kind(sheet, device, choose);
  read_memory(sheet, device, choose);
  read_build(sheet, device, choose);
  read_links(sheet, device, choose);
  if (assumptions != nullptr && !choose.text().empty()) {
    assumptions->push_back("device '" + printable(device.name) +
                           "' does not say everything; assumed: " + choose.text());
  }
  return device;
}

Device parse_device(std::string_view text, const std::string& where,
                    std::vector<std::string>* assumptions) {
  return device_of(read_facts(text, where), assumptions);
}

}  // namespace foretrain::hw
