// SPDX-License-Identifier: Apache-2.0
#include "foretrain/hw/instance.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/hw/catalog.h"

namespace foretrain::hw {
namespace {

std::string listed(std::string_view name, const std::vector<std::string>& known) {
  const std::string nearest = did_you_mean(name, known);
  return nearest.empty() ? "; `foretrain clouds` lists what is known" : nearest;
}

std::string lower(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

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
  const std::string bare = wanted.substr(wanted.find(':') + 1);  // npos + 1 is 0
  throw Error(ErrorKind::NotFound,
              "unknown cloud instance '" + printable(name) + "'" + listed(bare, names));
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
    throw Error(ErrorKind::NotFound,
                "unknown cloud '" + printable(provider) + "'" + listed(provider, providers));
  }
  return cheapest;
}

}  // namespace foretrain::hw
