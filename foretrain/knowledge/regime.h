// SPDX-License-Identifier: Apache-2.0
// What the error of a prediction depends on, in words: intervals are looked up by these.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
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
  Machine,       // stated: the request gives the host's speed; else assumed
  Architecture,  // of the device: volta, ampere, ...
  Seen,          // whether the device is among the measured cases: seen, new
  Counter,       // of memory: allocated, reserved, used; "" of a time
  Sharing,       // of parameters: whole on each device, sharded, split into tensors or stages
};
inline constexpr std::size_t kTraits = 12;

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

// A device's name without the size of its memory: variants that compute alike.
std::string chip_named(std::string_view device);

}  // namespace foretrain
