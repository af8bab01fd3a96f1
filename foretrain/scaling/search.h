// SPDX-License-Identifier: Apache-2.0
// Bayesian optimisation by real runs: which configuration to try next, and when to stop; after
// CherryPick (Alipourfard et al., NSDI 2017).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/scaling/search_space.h"

namespace foretrain::scaling {

struct SearchOptions {
  std::size_t first = 3;               // points spread over the space before anything is believed
  std::size_t least = 6;               // runs before the stop rule counts
  std::size_t most = 100;              // runs in all
  double stop = 0.1;                   // ends where no point is expected to be better by this share
  std::optional<std::size_t> price{};  // the variable that the time is multiplied by: a cost
  std::optional<double> deadline_s{};  // what takes longer is no answer
  bool random = false;                 // points drawn instead, for comparison
  std::uint64_t seed = 1;
};

// A run that was made; without a time where it failed.
struct Tried {
  std::size_t point = 0;
  std::optional<double> time_s{};
};

// What is to be least: the time, times the price where there is one.
double goal_of(const SearchSpace& space, const Tried& tried, const SearchOptions& options);

// Of the runs that did not fail and kept the deadline; absent where there is none.
std::optional<std::size_t> best_of(const SearchSpace& space, const std::vector<Tried>& history,
                                   const SearchOptions& options);

struct Proposal {
  std::size_t point = 0;
  std::optional<double> improvement{};  // that is expected, as a share of the best; after the first
};

// What to run next: it depends on the history and the options alone, so that a search can be taken
// up again. Absent at the end: by the stop rule, at the most runs, or when all is tried.
std::optional<Proposal> next_point(const SearchSpace& space, const std::vector<Tried>& history,
                                   const SearchOptions& options);

}  // namespace foretrain::scaling
