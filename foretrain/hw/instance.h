// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "foretrain/hw/link.h"

namespace foretrain::hw {

// A machine that a cloud rents by the hour, with its on-demand list price.
struct Instance {
  std::string provider{};  // "aws"
  std::string name{};      // "p3.16xlarge"
  std::string region{};    // of the price: "us-east-1"
  std::string device{};    // a name of the catalog
  int devices = 1;
  Link intra_node;
  Link network;
  std::string cpu{};                   // of the host, "" where it is not known
  std::optional<double> host_speed{};  // of that CPU, against the reference machine
  double price_per_hour_usd = 0;       // of the whole machine
  std::string price_date{};            // "2024-12"
  std::string price_source{};
  std::string machine_source{};  // of devices and links
};

inline double price_per_device_hour_usd(const Instance& instance) {
  return instance.price_per_hour_usd / instance.devices;
}

}  // namespace foretrain::hw
