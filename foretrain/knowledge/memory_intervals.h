// SPDX-License-Identifier: Apache-2.0
// How far measured peaks of memory lie from predicted ones, by regime: the interval of the report's
// peak and the probability that a job fits. `foretrain fit memory-intervals` finds them,
// data/predictors/memory_intervals.json has those in use, docs/models/intervals.md says how.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/knowledge/regime.h"

namespace foretrain {

// Of the measured peaks of a regime; what lies beyond the first and the last is not told.
inline constexpr std::array kMemoryShares{0.01, 0.02, 0.05, 0.1, 0.2,  0.3,  0.4, 0.5,
                                          0.6,  0.7,  0.8,  0.9, 0.95, 0.98, 0.99};

// One regime: ends of the interval and quantiles of log(measured / predicted peak).
struct MemoryCell {
  double low = 0;
  double high = 0;
  std::array<double, kMemoryShares.size()> quantiles{};  // at kMemoryShares
  std::size_t rows = 0;                                  // measurements behind it
  std::size_t sources = 0;                               // that they come from
};

struct MemoryIntervals {
  double confidence = 0.9;
  std::vector<Trait> traits;  // a regime of fewer words has the first of them: coarser
  std::map<std::string, MemoryCell> cells;  // by their words, joined by '/'; "" is any regime
};

inline constexpr const char* kMemoryIntervalsFormat = "foretrain-memory-intervals";

// Throws Error(BadInput) naming `where`.
MemoryIntervals read_memory_intervals(std::string_view text, const std::string& where);
std::string write_memory_intervals(const MemoryIntervals& intervals,
                                   std::span<const std::string> notes);

// The finest cell that the regime is in; null where there is none.
const MemoryCell* find_cell(const MemoryIntervals& intervals, const Regime& regime);

// The share of measured peaks that are at most `ratio` times what was predicted, between quantiles
// in proportion; from 0.01 to 0.99.
double share_within(const MemoryCell& cell, double ratio);

}  // namespace foretrain
