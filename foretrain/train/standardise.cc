// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/standardise.h"

#include <cmath>

namespace foretrain::train {

learn::Standardised standard_of(const std::vector<std::vector<double>>& rows) {
  const std::size_t columns = rows.front().size();
  const auto count = static_cast<double>(rows.size());
  learn::Standardised standard{std::vector<double>(columns), std::vector<double>(columns)};
  for (const std::vector<double>& row : rows) {
    for (std::size_t j = 0; j < columns; ++j) standard.mean[j] += row[j] / count;
  }
  for (const std::vector<double>& row : rows) {
    for (std::size_t j = 0; j < columns; ++j) {
      const double off = row[j] - standard.mean[j];
      standard.deviation[j] += off * off / count;
    }
  }
  for (std::size_t j = 0; j < columns; ++j) {
    const double deviation = std::sqrt(standard.deviation[j]);
    standard.deviation[j] = deviation > 1e-10 * (1 + std::abs(standard.mean[j])) ? deviation : 1;
  }
  return standard;
}

std::vector<std::vector<double>> standardise(const std::vector<std::vector<double>>& rows,
                                             const learn::Standardised& by) {
  std::vector<std::vector<double>> result = rows;
  for (std::vector<double>& row : result) {
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = (row[j] - by.mean[j]) / by.deviation[j];
  }
  return result;
}

}  // namespace foretrain::train
