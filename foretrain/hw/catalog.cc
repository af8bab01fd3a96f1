// SPDX-License-Identifier: Apache-2.0
#include "foretrain/hw/catalog.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/hw/detail/link_file.h"

namespace foretrain::hw {

namespace {

constexpr double kLeastCores = 0.01;
constexpr int kMostCores = 256;
constexpr int kUsualCores = 16;  // of a `cpu` without a number: a common size of host
// Memory bandwidth of one socket: 8 channels of DDR4-3200. Source: AMD EPYC 7003 specifications.
constexpr double kSocketBytesPerS = 204.8e9;

void note(std::vector<std::string>* assumptions, std::string text) {
  if (assumptions != nullptr) assumptions->push_back(std::move(text));
}

// Ends a message about a name that is not in the catalog.
std::string hint(std::string_view name, const std::vector<std::string>& known,
                 const char* command) {
  const std::string nearest = did_you_mean(name, known);
  return nearest.empty() ? std::string("; `foretrain ") + command + "` lists what is known"
                         : nearest;
}

// Spelling that does not matter: case, separators, the vendor in front.
std::string normal(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool separator = c == ' ' || c == '_';
    text += separator ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (const std::string_view word : {"nvidia-", "amd-", "tesla-", "geforce-", "instinct-"}) {
    if (text.starts_with(word)) text.erase(0, word.size());
  }
  return text;
}

std::string lower(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

template <typename Entry>
const std::string& name_of(const Entry& entry) {
  if constexpr (requires { entry.device; }) {
    return entry.device.name;
  } else {
    return entry.link.name;
  }
}

template <typename Entry>
const Entry* find_entry(const std::vector<Entry>& entries, const std::string& name) {
  for (const Entry& entry : entries) {
    if (name_of(entry) == name) return &entry;
  }
  for (const Entry& entry : entries) {
    if (std::find(entry.aliases.begin(), entry.aliases.end(), name) != entry.aliases.end()) {
      return &entry;
    }
  }
  return nullptr;
}

template <typename Entry>
std::vector<std::string> names_of(const std::vector<Entry>& entries) {
  std::vector<std::string> names;
  for (const Entry& entry : entries) {
    names.push_back(name_of(entry));
    names.insert(names.end(), entry.aliases.begin(), entry.aliases.end());
  }
  return names;
}

// A whole number or a decimal one, nothing around it.
std::optional<double> decimal(std::string_view text) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

// Below 1: a share of a core, which does everything more slowly.
Device cpu_of(const Catalog& catalog, double cores, std::string_view text) {
  const DeviceEntry* core = find_entry(catalog.devices, "cpu");
  if (core == nullptr) throw Error(ErrorKind::NotFound, "the catalog has no device 'cpu'");
  Device cpu = core->device;
  cpu.name = "cpu:cores=" + std::string(text);
  cpu.fp32_flops_per_s *= cores;
  if (cpu.fp64_flops_per_s) *cpu.fp64_flops_per_s *= cores;
  cpu.memory_bytes_per_s = std::min(cores * cpu.memory_bytes_per_s, kSocketBytesPerS);
  cpu.tdp_w *= cores;
  if (cores < 1) {
    if (cpu.boost_clock_hz) *cpu.boost_clock_hz *= cores;
    cpu.core_share = cores;
    return cpu;
  }
  cpu.memory_bytes *= cores;
  cpu.sms = static_cast<int>(cores);
  cpu.l2_bytes *= cores;
  return cpu;
}

Device find_cpu(const Catalog& catalog, std::string_view name, std::string_view options) {
  constexpr std::string_view kCores = "cores=";
  const std::optional<double> cores =
      options.starts_with(kCores) ? decimal(options.substr(kCores.size())) : std::nullopt;
  const bool share = cores && *cores >= kLeastCores && *cores < 1;
  const bool whole = cores && *cores >= 1 && *cores <= kMostCores && *cores == std::floor(*cores);
  if (!share && !whole) {
    throw Error(ErrorKind::BadInput,
                "device '" + printable(name) + "': write cpu:cores=N with 1 to " +
                    std::to_string(kMostCores) + " cores, or a share of one from 0.01");
  }
  return cpu_of(catalog, *cores, options.substr(kCores.size()));
}

// "50gbps": a network known only by its rate, taken as TCP.
std::optional<Link> plain_rate(std::string_view name, const AssumedLink& assumed) {
  for (const auto& [unit, bits] : {std::pair{"gbps", 1e9}, std::pair{"mbps", 1e6}}) {
    if (!name.ends_with(unit)) continue;
    const std::optional<double> rate = decimal(name.substr(0, name.size() - 4));
    if (!rate) return std::nullopt;
    Link link{.name = std::string(name),
              .latency = assumed.tcp_latency,
              .bytes_per_s = *rate * bits / 8,
              .efficiency = assumed.efficiency,
              .rdma = false,
              .switched = true};
    if (link.bytes_per_s < kLeastBytesPerS || link.bytes_per_s > kMostBytesPerS) {
      throw Error(ErrorKind::BadInput,
                  "network '" + printable(name) + "': the rate is outside 0.001mbps to 80000gbps");
    }
    return link;
  }
  return std::nullopt;
}

// "4xhdr" is 4 and "hdr"; without a count it is 1 and the whole.
std::pair<int, std::string> split_count(const std::string& name) {
  const std::size_t digits = name.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string::npos || name[digits] != 'x') return {1, name};
  const std::optional<double> count = decimal(std::string_view(name).substr(0, digits));
  if (!count || *count < 1 || *count > kMostNics) {
    throw Error(ErrorKind::BadInput, "network '" + printable(name) + "': a node has 1 to " +
                                         std::to_string(kMostNics) + " NICs");
  }
  return {static_cast<int>(*count), name.substr(digits + 1)};
}

// Generation of NVLink that devices of an architecture with high-bandwidth memory speak.
std::optional<int> nvlink_generation(const Device& device) {
  constexpr std::array<std::string_view, 5> kGenerations{"pascal", "volta", "ampere", "hopper",
                                                         "blackwell"};
  const auto found = std::find(kGenerations.begin(), kGenerations.end(), device.architecture);
  if (found == kGenerations.end() || !device.memory_type.starts_with("hbm")) return std::nullopt;
  return 1 + static_cast<int>(found - kGenerations.begin());
}

std::string own_generation(const std::string& name, const Device& device) {
  const std::optional<int> generation = nvlink_generation(device);
  if (!generation || (name == "nvswitch" && *generation < 2)) {
    throw Error(ErrorKind::BadInput, "device '" + printable(device.name) + "' has no " + name +
                                         " of its own; name the link, such as pcie3-x16, "
                                         "nvlink3-bridge or nvswitch3");
  }
  return name + std::to_string(*generation);
}

}  // namespace

Device find_device(const Catalog& catalog, std::string_view name,
                   std::vector<std::string>* assumptions) {
  const std::string wanted = normal(name);
  if (wanted == "cpu") {
    Device cpu = cpu_of(catalog, kUsualCores, std::to_string(kUsualCores));
    note(assumptions, "device 'cpu' taken as " + cpu.name);
    return cpu;
  }
  if (wanted.starts_with("cpu:")) return find_cpu(catalog, name, wanted.substr(4));
  const DeviceEntry* entry = find_entry(catalog.devices, wanted);
  if (entry == nullptr) {
    throw Error(ErrorKind::NotFound, "unknown device '" + printable(name) + "'" +
                                         hint(wanted, names_of(catalog.devices), "devices"));
  }
  if (entry->device.name != wanted) {
    note(assumptions, "device '" + printable(name) + "' taken as " + entry->device.name);
  }
  return entry->device;
}

Link find_link(const Catalog& catalog, std::string_view name) {
  const std::string wanted = normal(name);
  if (wanted == "nvswitch" || wanted == "nvlink") {
    throw Error(ErrorKind::BadInput, "link '" + wanted + "' depends on the device; say which " +
                                         "generation, such as " + wanted + "3");
  }
  const auto [count, single] = split_count(wanted);
  const LinkEntry* entry = find_entry(catalog.links, single);
  const std::optional<Link> rate =
      entry == nullptr ? plain_rate(single, catalog.assumed_link) : std::nullopt;
  if (entry == nullptr && !rate) {
    const bool rate_like = name.find_first_of("0123456789") == 0;
    throw Error(ErrorKind::NotFound, "unknown link '" + printable(name) + "'" +
                                         hint(single, names_of(catalog.links), "networks") +
                                         (rate_like ? "; a plain rate is written as 50gbps" : ""));
  }
  if (entry != nullptr && !entry->network && single != wanted) {
    throw Error(ErrorKind::BadInput, "link '" + printable(name) + "': only a network takes a " +
                                         "number of NICs in front");
  }
  Link link = entry != nullptr ? entry->link : *rate;
  link.nics = count;
  if (count > 1) link.name = std::to_string(count) + "x" + link.name;
  return link;
}

Link find_intra_node(const Catalog& catalog, std::string_view name, const Device& device,
                     std::vector<std::string>* assumptions) {
  std::string wanted = normal(name.empty() ? device.intra_node : name);
  if (wanted == "nvswitch" || wanted == "nvlink") wanted = own_generation(wanted, device);
  Link link = find_link(catalog, wanted);
  if (!device.pcie_peer_access && link.peer_access && link.name.starts_with("pcie")) {
    link = find_link(catalog, link.name + "-no-peer");
    note(assumptions, "device '" + printable(device.name) +
                          "' has no peer access over PCIe: copies pass through host memory");
  }
  if (name.empty()) {
    note(assumptions,
         "devices of a node joined by " + link.name + ", usual for " + printable(device.name));
  }
  return link;
}

std::string usual_network(const Catalog& catalog, const Link& intra_node) {
  const LinkEntry* entry = find_entry(catalog.links, intra_node.name);
  return entry == nullptr ? "" : entry->usual_network;
}

const Instance& find_instance(const Catalog& catalog, std::string_view name) {
  const std::string wanted = lower(name);
  const Instance* found = nullptr;
  std::vector<std::string> names;
  for (const Instance& instance : catalog.instances) {
    names.push_back(instance.name);
    const std::string full = instance.provider + ":" + instance.name;
    if (wanted != instance.name && wanted != full) continue;
    if (found != nullptr) {
      throw Error(ErrorKind::NotFound, "several clouds have an instance '" + printable(name) +
                                           "'; write " + found->provider + ":" + found->name +
                                           " or " + full);
    }
    found = &instance;
  }
  if (found != nullptr) return *found;
  const std::string bare = wanted.substr(wanted.find_last_of(":/") + 1);  // npos + 1 is 0
  throw Error(ErrorKind::NotFound,
              "unknown cloud instance '" + printable(name) + "'" + hint(bare, names, "clouds"));
}

const Instance* cheapest_instance(const Catalog& catalog, const std::string& device,
                                  std::string_view provider) {
  const Instance* cheapest = nullptr;
  std::vector<std::string> providers;
  for (const Instance& instance : catalog.instances) {
    if (providers.empty() || providers.back() != instance.provider) {
      providers.push_back(instance.provider);
    }
    if (instance.device != device || (!provider.empty() && instance.provider != provider)) continue;
    if (cheapest == nullptr ||
        price_per_device_hour_usd(instance) < price_per_device_hour_usd(*cheapest)) {
      cheapest = &instance;
    }
  }
  if (!provider.empty() &&
      std::find(providers.begin(), providers.end(), provider) == providers.end()) {
    throw Error(ErrorKind::NotFound, "unknown cloud '" + printable(provider) + "'" +
                                         hint(provider, providers, "clouds"));
  }
  return cheapest;
}

}  // namespace foretrain::hw
