// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "foretrain/base/seconds.h"

namespace foretrain::sched {

// Random numbers that are the same on every machine. Source of the generator: Steele, Lea, Flood,
// OOPSLA 2014 (SplitMix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  // One that depends on nothing but the seed and the number, such as that of a job.
  Random(std::uint64_t seed, std::uint64_t number) : state_(seed) {
    state_ = next() ^ (number * 0xD1342543DE82EF95U);
  }

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }

  double uniform() { return static_cast<double>(next() >> 11U) * 0x1p-53; }  // [0, 1)
  Seconds exponential(Seconds mean) { return -mean * std::log1p(-uniform()); }

  // Standard normal (Box and Muller 1958).
  double normal() {
    const double radius = std::sqrt(-2 * std::log1p(-uniform()));
    return radius * std::cos(2 * 3.14159265358979323846 * uniform());
  }

 private:
  std::uint64_t state_;
};

}  // namespace foretrain::sched
