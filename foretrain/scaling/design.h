// SPDX-License-Identifier: Apache-2.0
// Which few runs to make before a scaling model is fitted: Ernest's A-optimal experiment design
// (Venkataraman et al., NSDI 2016).
#pragma once

#include <cstddef>
#include <vector>

namespace foretrain::scaling {

// A run that could be made.
struct Candidate {
  double workers = 1;
  double fraction = 1;  // of the data set, above 0 to 1
  double cost = 1;      // above 0, in the budget's unit
};

// Ernest's features of a run: 1, fraction / workers, log workers, workers.
std::vector<double> ernest_features(const Candidate& one);

// How much of each candidate, from 0 to 1, makes the sum of the variances of the weights least
// while the costs stay within the budget: trace((sum of share f f')^-1), features scaled to a
// largest value of 1 so that units do not matter. By multiplicative updates (Silvey, Titterington
// and Torsney, 1978), shares cut at 1.
std::vector<double> optimal_shares(const std::vector<std::vector<double>>& features,
                                   const std::vector<double>& costs, double budget);

// The same sum of variances of whole runs; infinite where they do not determine the weights.
double variance_sum(const std::vector<std::vector<double>>& features,
                    const std::vector<std::size_t>& runs);

struct Design {
  std::vector<std::size_t> runs{};  // of the candidates, in their order
  std::vector<double> shares{};     // of every candidate, before they are made whole
  double cost = 0;                  // of the runs
  double variance = 0;              // of the runs
};

// Shares above 0.3, as Ernest keeps them, largest first while they fit the budget; what is left of
// it goes to the runs that lower the variance most for their cost. Throws Error(BadInput) for
// candidates that are none, for more than kMostCandidates, whose rounds would take minutes, and
// where the budget does not allow runs that determine all weights.
inline constexpr double kKeptShare = 0.3;
inline constexpr std::size_t kMostCandidates = 1000;
Design design_runs(const std::vector<Candidate>& candidates, double budget);

}  // namespace foretrain::scaling
