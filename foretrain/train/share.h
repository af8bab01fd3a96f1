// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace foretrain::train {

// How much of what was measured is learned from: architectures in an order that the seed draws, so
// that a larger share holds every smaller one.
struct Share {
  double fraction = 1;                // of the architectures
  std::optional<std::size_t> jobs{};  // so many measured jobs instead, the first architectures'
  std::uint64_t seed = 1;
};

// What became of it.
struct UsedShare {
  std::size_t architectures = 0;
  std::size_t jobs = 0;
  std::size_t all_architectures = 0;  // that there were
  std::size_t all_jobs = 0;
};

}  // namespace foretrain::train
