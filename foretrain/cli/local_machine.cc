// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/local_machine.h"

#include "foretrain/base/error.h"
#include "foretrain/base/humanise.h"
#include "foretrain/base/json.h"
#include "foretrain/cli/table.h"
#include "foretrain/profile/machine.h"

namespace foretrain::cli {
namespace {

// How a request names this machine's CPU.
std::string cpu_device(const profile::Machine& machine) {
  return "cpu:cores=" + std::to_string(machine.cores);
}

std::string machine_json(const profile::Machine& machine, const hw::Catalog& catalog) {
  OrderedJson gpus = OrderedJson::array();
  for (const profile::GpuFacts& gpu : machine.gpus) {
    const auto known = catalog_name(catalog, gpu.name);
    gpus.push_back({{"name", gpu.name}, {"memory_bytes", gpu.memory_bytes}});
    gpus.back()["device"] = known ? OrderedJson(*known) : OrderedJson(nullptr);
  }
  OrderedJson nics = OrderedJson::array();
  for (const profile::NicFacts& nic : machine.nics) {
    nics.push_back({{"name", nic.name}, {"up", nic.up}, {"physical", nic.physical}});
    nics.back()["bytes_per_s"] =
        nic.bytes_per_s ? OrderedJson(*nic.bytes_per_s) : OrderedJson(nullptr);
  }
  const OrderedJson json{{"cpu",
                          {{"name", machine.cpu},
                           {"sockets", machine.sockets},
                           {"cores", machine.cores},
                           {"threads", machine.threads},
                           {"device", cpu_device(machine)}}},
                         {"memory_bytes", machine.memory_bytes},
                         {"gpus", std::move(gpus)},
                         {"nics", std::move(nics)}};
  return json_text(json);
}

std::string machine_text(const profile::Machine& machine, const hw::Catalog& catalog,
                         const Screen& screen) {
  Table table{{{"", false}, {"", false, true}, {"", true}, {"device", false}}, {}};
  const std::string cores =
      std::to_string(machine.cores) + " cores, " + std::to_string(machine.threads) + " threads";
  table.rows.push_back({"cpu", machine.cpu.empty() ? "not named" : machine.cpu, cores,
                        Cell(cpu_device(machine), Colour::Bold)});
  table.rows.push_back({"memory", "", format_bytes(machine.memory_bytes)});
  for (const profile::GpuFacts& gpu : machine.gpus) {
    const auto known = catalog_name(catalog, gpu.name);
    table.rows.push_back({"gpu", gpu.name.empty() ? "not named" : gpu.name,
                          format_bytes(gpu.memory_bytes),
                          known ? Cell(*known, Colour::Bold) : Cell("not in the catalog")});
  }
  for (const profile::NicFacts& nic : machine.nics) {
    const std::string rate = nic.bytes_per_s ? format_rate(*nic.bytes_per_s) : "rate not told";
    table.rows.push_back(
        {"network", nic.name + (nic.physical ? "" : " (virtual)"), nic.up ? rate : "down"});
  }
  std::string text = render(table, screen);
  if (machine.gpus.empty()) text += wrap("No GPU that NVML sees.", "  ", screen);
  return text;
}

}  // namespace

std::optional<std::string> catalog_name(const hw::Catalog& catalog, const std::string& gpu) {
  std::string name;
  for (const char c : gpu) {
    if (c >= 'A' && c <= 'Z') {
      name += static_cast<char>(c - 'A' + 'a');
    } else {
      name += c == ' ' ? '-' : c;
    }
  }
  for (const std::string brand : {"nvidia-", "tesla-", "geforce-"}) {
    if (name.starts_with(brand)) name.erase(0, brand.size());
  }
  for (const hw::DeviceEntry& entry : catalog.devices) {
    if (names_exactly(name, {entry.device.name})) return entry.device.name;
  }
  return std::nullopt;
}

void show_local_machine(const hw::Catalog& catalog, const CatalogOptions& options,
                        Console& console) {
  if (!options.filter.empty()) {
    throw Error(ErrorKind::BadInput, "devices: --local takes no filter; leave one of them out");
  }
  const profile::Machine machine = profile::local_machine();
  if (options.json) return console.line(machine_json(machine, catalog));
  console.write(machine_text(machine, catalog, console.screen));
}

}  // namespace foretrain::cli
