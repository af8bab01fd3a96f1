// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/hw/device.h"
#include "foretrain/hw/host.h"
#include "foretrain/hw/instance.h"
#include "foretrain/hw/link.h"

namespace foretrain::hw {

// Where a value of a catalog entry comes from.
struct Source {
  std::string field;
  std::string text;
};

struct DeviceEntry {
  Device device;
  std::vector<std::string> aliases;
  std::vector<Source> sources;
};

struct LinkEntry {
  Link link;
  std::vector<std::string> aliases;
  bool network = false;  // between nodes; false: between the devices of a node
  std::vector<Source> sources;
  std::string usual_network{};  // of nodes whose devices it joins: a link's name, "" where none is
};

// Hardware that is known by name: data/hardware/, sorted by name. The CPU is the entry "cpu",
// which holds one core; find_device makes `cpu:cores=N` of it.
struct Catalog {
  std::vector<DeviceEntry> devices;
  std::vector<LinkEntry> links;
  std::vector<Instance> instances;  // sorted by provider, then name
  AssumedLink assumed_link;
  AssumedHost assumed_host;
};

// The device called `name`: a catalog name, an alias (noted in `assumptions`) or `cpu:cores=N`.
// Case and the separators space, dash and underscore do not matter. Throws Error: NotFound with
// near matches, BadInput for a number of cores outside 1..256.
Device find_device(const Catalog& catalog, std::string_view name,
                   std::vector<std::string>* assumptions);

// The link called `name`: a catalog name or alias, a plain rate ("50gbps": TCP), or for a network
// a count of NICs in front of either ("4xhdr"). Throws Error: NotFound with near matches,
// BadInput for a count or rate out of range and for "nvswitch", which only find_intra_node knows.
Link find_link(const Catalog& catalog, std::string_view name);

// How devices of one node are joined when the user says `name`. As find_link, and: "" is the
// device's own default (noted in `assumptions`); "nvswitch" and "nvlink" are the generation of
// the device; PCIe becomes its -no-peer form, noted, where the device has no peer access.
Link find_intra_node(const Catalog& catalog, std::string_view name, const Device& device,
                     std::vector<std::string>* assumptions);

// What usually joins nodes whose devices are joined by `intra_node`: its name in the catalog, or
// "" where nothing is usual.
std::string usual_network(const Catalog& catalog, const Link& intra_node);

// The instance called `name`: "p3.16xlarge" or "aws:p3.16xlarge", in any case. Throws
// Error(NotFound) with near matches, also where two providers use the name.
const Instance& find_instance(const Catalog& catalog, std::string_view name);

// The instance with the lowest price per device; null where nobody rents the device. `provider`
// "" is any. Throws Error(NotFound) for a provider that is not in the catalog.
const Instance* cheapest_instance(const Catalog& catalog, const std::string& device,
                                  std::string_view provider = "");

}  // namespace foretrain::hw
