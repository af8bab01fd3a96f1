// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace foretrain::sched {

// Mean and quantiles of many numbers from 0 up in bounded memory: exact up to kExact numbers;
// beyond that quantiles are exact to 0.1 % of their value, the mean stays exact.
class Quantiles {
 public:
  static constexpr std::size_t kExact = 200'000;

  void add(double value);

  std::size_t count() const { return count_; }
  double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

  // The value at share `q` of the sorted numbers, linear between two neighbours: 0.5 is the
  // median. 0 where there are none.
  double at(double q) const;

 private:
  double value_at(std::size_t index) const;  // of the sorted numbers, from 0
  void fold();

  std::size_t count_ = 0;
  double sum_ = 0;
  mutable std::vector<double> values_;
  mutable bool sorted_ = false;
  bool folded_ = false;
  std::map<int, std::size_t> counts_;  // by logarithm
};

}  // namespace foretrain::sched
