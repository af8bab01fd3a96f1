// SPDX-License-Identifier: Apache-2.0
#include "foretrain/memory/lengths.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "foretrain/base/normal.h"

namespace foretrain::memory {
namespace {

// Every batch that is longer than all before it needs new segments; of random lengths ln(n) in n
// steps do.
constexpr int kSteps = 64;
const double kGoldenRatio = (std::sqrt(5.0) - 1) / 2;
constexpr double kLeastShare = 1e-9;  // of a distribution: quantiles stay finite

}  // namespace

std::vector<double> batch_shares(const Lengths& lengths, double longest, std::int64_t batch) {
  assert(lengths.mean > 0 && lengths.deviation > 0 && longest >= 1 && batch >= 1);
  const double ratio = lengths.deviation / lengths.mean;
  const double width = std::sqrt(std::log1p(ratio * ratio));
  const double middle = std::log(lengths.mean) - width * width / 2;
  const double kept = normal_share((std::log(longest) - middle) / width);
  std::vector<double> shares;
  for (int step = 1; step <= kSteps; ++step) {
    double whole = 0;
    const double even = std::modf(step * kGoldenRatio, &whole);
    const double of_longest = std::pow(even, 1 / static_cast<double>(batch));
    const double quantile = std::clamp(of_longest * kept, kLeastShare, 1 - kLeastShare);
    const double length = std::exp(middle + width * normal_quantile(quantile));
    shares.push_back(std::clamp(length / longest, 1 / longest, 1.0));
  }
  *std::max_element(shares.begin(), shares.end()) = 1;  // memory is that of the longest
  return shares;
}

}  // namespace foretrain::memory
