// SPDX-License-Identifier: Apache-2.0
// What the error of a prediction depends on, in words: intervals are looked up by these.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace foretrain {

enum class Trait : std::size_t {
  Family,        // of the model, by its kernels' time: cnn, transformer, recurrent, other
  Framework,     // as the request names it
  Scale,         // one device, one node, several nodes: one, node, nodes
  Bound,         // the largest part of the step: compute, memory, communication, host
  Precision,     // fp32, tf32, fp64, half (fp16, bf16, fp8)
  Mode,          // train, inference
  Length,        // of the predicted step: tiny, short, medium, long; LengthLimits says how long
  Architecture,  // of the device: volta, ampere, ...
  Counter,       // of memory: allocated, reserved, used; "" of a time
  Sharing,       // of parameters: whole on each device, sharded, split into tensors or stages
};
inline constexpr std::size_t kTraits = 10;

using Regime = std::array<std::string, kTraits>;

inline std::string& word(Regime& regime, Trait which) {
  return regime[static_cast<std::size_t>(which)];
}
inline const std::string& word(const Regime& regime, Trait which) {
  return regime[static_cast<std::size_t>(which)];
}

// "family", "framework", ...: the names of traits in files.
std::string_view trait_name(Trait which);
std::optional<Trait> trait_named(std::string_view name);

// The words of the first `count` traits, joined by '/': the name of a regime of those.
std::string cell_name(std::span<const Trait> traits, std::size_t count, const Regime& regime);

// The finest of the cells that the regime is in; null where there is none.
template <typename Cell>
const Cell* find_cell(const std::map<std::string, Cell>& cells, std::span<const Trait> traits,
                      const Regime& regime) {
  for (std::size_t count = traits.size() + 1; count-- > 0;) {
    const auto found = cells.find(cell_name(traits, count, regime));
    if (found != cells.end()) return &found->second;
  }
  return nullptr;
}

// A device's name without the size of its memory: variants that compute alike.
std::string chip_named(std::string_view device);

}  // namespace foretrain
