// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/quantiles.h"

#include <algorithm>
#include <cmath>

namespace foretrain::sched {
namespace {

constexpr double kWidth = 0.002;  // of a bin of logarithms: its middle is within 0.1 %
constexpr double kSmallest = 1e-6;

int bin_of(double value) {
  return static_cast<int>(std::floor(std::log(std::max(value, kSmallest)) / kWidth));
}

double middle_of(int bin) {
  const double value = std::exp((bin + 0.5) * kWidth);
  return value < 2 * kSmallest ? 0 : value;
}

}  // namespace

void Quantiles::add(double value) {
  ++count_;
  sum_ += value;
  if (folded_) {
    ++counts_[bin_of(value)];
    return;
  }
  values_.push_back(value);
  sorted_ = false;
  if (values_.size() > kExact) fold();
}

void Quantiles::fold() {
  for (const double value : values_) ++counts_[bin_of(value)];
  values_ = {};
  folded_ = true;
}

double Quantiles::value_at(std::size_t index) const {
  if (!folded_) return values_[index];
  for (const auto& [bin, count] : counts_) {
    if (index < count) return middle_of(bin);
    index -= count;
  }
  return 0;
}

double Quantiles::at(double q) const {
  if (count_ == 0) return 0;
  if (!folded_ && !sorted_) std::sort(values_.begin(), values_.end());
  sorted_ = true;
  const double place = q * static_cast<double>(count_ - 1);
  const double below = std::floor(place);
  const auto index = static_cast<std::size_t>(below);
  const double low = value_at(index);
  if (place == below) return low;
  return low + (place - below) * (value_at(index + 1) - low);
}

}  // namespace foretrain::sched
