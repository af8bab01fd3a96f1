// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

namespace foretrain::resource {

// The centres of the two groups that k-means finds with k = 2; low < high.
struct TwoMeans {
  double low = 0;
  double high = 0;
};

// Divides values in two so that the squared distances to the two means are least in sum. In one
// dimension the groups are a lower and an upper part of the sorted values, so all divisions are
// tried: the result is the true optimum and needs no start values. Of equally good divisions the
// lowest is taken. Absent when there are not two different values.
std::optional<TwoMeans> two_means(std::vector<double> values);

}  // namespace foretrain::resource
