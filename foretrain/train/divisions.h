// SPDX-License-Identifier: Apache-2.0
// Rows divided into those that are learned from and those that are judged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "foretrain/train/scaling_data.h"

namespace foretrain::train {

struct Division {
  std::vector<std::size_t> train{};
  std::vector<std::size_t> test{};
  double weight = 1;  // of its error among others'
};

using ScalingRows = std::vector<ScalingRow>;

// Which of `folds` folds each row is in. Rows of equal variables (repeats) are in one fold; which
// one the seed says. As many folds as there are different rows, where these are fewer.
std::vector<std::size_t> folds_of(const ScalingRows& rows, std::size_t variables, std::size_t folds,
                                  std::uint64_t seed);
std::vector<Division> by_folds(const std::vector<std::size_t>& fold);

// Values of a variable between others: every third, never the first or the last. None where there
// are fewer than four.
std::vector<bool> in_between(const ScalingRows& rows, std::size_t variable);
// The highest part of its values, a third unless said, at least one. None where there are fewer
// than three values.
std::vector<bool> at_the_end(const ScalingRows& rows, std::size_t variable, std::size_t part = 3);

// Its values, each once, from the least on; and how far beyond the greatest of those that are kept
// the highest half of them lies: 1 where there are fewer than three.
std::vector<double> values_of(const ScalingRows& rows, std::size_t variable);
double tried_beyond(const std::vector<double>& values);

// For each of the variables what lies at its end, where anything does: how well a form goes on. A
// sixth, a third and a half of its values; of several variables, those left out in two or more as
// well.
std::vector<Division> by_ends(const ScalingRows& rows, const std::vector<std::size_t>& variables);

// What is left out of the training rows in one variable; of several, what is left out in two or
// more, while the training rows are left out in none.
Division leave_out(const std::vector<std::vector<bool>>& left_out);

}  // namespace foretrain::train
