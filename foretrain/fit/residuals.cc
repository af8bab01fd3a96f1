// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/residuals.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace foretrain::fit {
namespace {

constexpr std::size_t kThinned = 250;

std::vector<std::size_t> rows_of_sources(const Residuals& residuals) {
  std::vector<std::size_t> counts(residuals.sources.size());
  for (const Residual& row : residuals.rows) ++counts[static_cast<std::size_t>(row.source)];
  return counts;
}

}  // namespace

int source_of(const std::string& name, std::vector<std::string>& sources) {
  const auto found = std::find(sources.begin(), sources.end(), name);
  const auto place = static_cast<int>(found - sources.begin());
  if (found == sources.end()) sources.push_back(name);
  return place;
}

std::vector<double> weights_of(const Residuals& residuals, Sources without) {
  const std::vector<std::size_t> counts = rows_of_sources(residuals);
  std::vector<double> weights;
  weights.reserve(residuals.rows.size());
  for (const Residual& row : residuals.rows) {
    const auto count = static_cast<double>(counts[static_cast<std::size_t>(row.source)]);
    const bool counts_here = (without & bit(row.source)) == 0;
    weights.push_back(counts_here ? std::min(count / kWholeSource, 1.0) / count : 0);
  }
  return weights;
}

Residuals thin(const Residuals& residuals) {
  const std::vector<std::size_t> counts = rows_of_sources(residuals);
  Residuals thinned{residuals.sources, {}};
  std::vector<std::size_t> seen(counts.size());
  for (const Residual& row : residuals.rows) {
    const auto source = static_cast<std::size_t>(row.source);
    const std::size_t stride = (counts[source] + kThinned - 1) / kThinned;
    if (seen[source]++ % stride == 0) thinned.rows.push_back(row);
  }
  return thinned;
}

double constant_ratio(const Residuals& residuals, Sources without, double confidence) {
  const std::vector<double> weights = weights_of(residuals, without);
  std::vector<std::pair<double, double>> sizes;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] > 0) sizes.emplace_back(std::abs(residuals.rows[i].log_ratio), weights[i]);
  }
  if (sizes.empty()) return 0;
  std::sort(sizes.begin(), sizes.end());
  return weighted_quantile(sizes, confidence);
}

double interval_score(double value, const Ends& ends, double confidence) {
  const double outside = std::max(0.0, ends.low - value) + std::max(0.0, value - ends.high);
  return ends.high - ends.low + 2 / (1 - confidence) * outside;
}

double weighted_quantile(const std::vector<std::pair<double, double>>& values_and_weights,
                         double share) {
  assert(std::is_sorted(values_and_weights.begin(), values_and_weights.end()));
  double all = 0;
  for (const auto& [value, weight] : values_and_weights) all += weight;
  constexpr double kRounding = 1e-9;  // of sums of weights
  double sum = 0;
  for (const auto& [value, weight] : values_and_weights) {
    sum += weight;
    if (sum >= all * (share - kRounding)) return value;
  }
  return values_and_weights.back().first;
}

double to_four_decimals(double value) { return std::round(value * 1e4) / 1e4; }

}  // namespace foretrain::fit
