// SPDX-License-Identifier: Apache-2.0
#include "foretrain/knowledge/regime.h"

#include <algorithm>

namespace foretrain {
namespace {

constexpr std::array<std::string_view, kTraits> kNames{
    "family", "framework", "scale",        "bound",   "precision",
    "mode",   "length",    "architecture", "counter", "sharing"};

}  // namespace

std::string_view trait_name(Trait which) { return kNames[static_cast<std::size_t>(which)]; }

std::optional<Trait> trait_named(std::string_view name) {
  const auto* found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Trait>(found - kNames.begin());
}

std::string cell_name(std::span<const Trait> traits, std::size_t count, const Regime& regime) {
  std::string name;
  for (std::size_t t = 0; t < count; ++t) name += (t == 0 ? "" : "/") + word(regime, traits[t]);
  return name;
}

std::string chip_named(std::string_view device) {
  const std::size_t dash = device.rfind('-');
  const bool has_size = dash != std::string_view::npos && device.ends_with("gb");
  return std::string(has_size ? device.substr(0, dash) : device);
}

}  // namespace foretrain
