// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/divisions.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace foretrain::train {
namespace {

template <typename IsOut>
std::vector<bool> rows_where(const ScalingRows& rows, std::size_t variable, const IsOut& is_out) {
  std::vector<bool> result;
  for (const ScalingRow& row : rows) result.push_back(is_out(row.values[variable]));
  return result;
}

}  // namespace

std::vector<double> values_of(const ScalingRows& rows, std::size_t variable) {
  std::set<double> values;
  for (const ScalingRow& row : rows) values.insert(row.values[variable]);
  return {values.begin(), values.end()};
}

double tried_beyond(const std::vector<double>& values) {
  if (values.size() < 3) return 1;
  return values.back() / values[values.size() - values.size() / 2 - 1];
}

std::vector<std::size_t> folds_of(const ScalingRows& rows, std::size_t variables, std::size_t folds,
                                  std::uint64_t seed) {
  std::map<std::vector<double>, std::size_t> places;
  const auto key = [&](const ScalingRow& row) {
    return std::vector<double>(row.values.begin(),
                               row.values.begin() + static_cast<std::ptrdiff_t>(variables));
  };
  for (const ScalingRow& row : rows) places[key(row)] = 0;
  std::vector<std::size_t> order(places.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i % folds;
  std::mt19937_64 engine(seed);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<std::size_t>(engine() % i)]);
  }
  std::size_t next = 0;
  for (auto& [values, fold] : places) fold = order[next++];
  std::vector<std::size_t> result;
  for (const ScalingRow& row : rows) result.push_back(places.at(key(row)));
  return result;
}

std::vector<Division> by_folds(const std::vector<std::size_t>& fold) {
  std::vector<Division> divisions(*std::max_element(fold.begin(), fold.end()) + 1);
  for (std::size_t i = 0; i < fold.size(); ++i) {
    for (std::size_t f = 0; f < divisions.size(); ++f) {
      (fold[i] == f ? divisions[f].test : divisions[f].train).push_back(i);
    }
  }
  std::erase_if(divisions, [](const Division& one) { return one.train.empty(); });
  return divisions;
}

std::vector<bool> in_between(const ScalingRows& rows, std::size_t variable) {
  const std::vector<double> values = values_of(rows, variable);
  std::set<double> out;
  for (std::size_t i = 2; i + 1 < values.size(); i += 3) out.insert(values[i]);
  return rows_where(rows, variable, [&](double value) { return out.contains(value); });
}

std::vector<bool> at_the_end(const ScalingRows& rows, std::size_t variable, std::size_t part) {
  const std::vector<double> values = values_of(rows, variable);
  if (values.size() < 3) return std::vector<bool>(rows.size());
  const std::size_t kept = values.size() - std::max<std::size_t>(1, values.size() / part);
  const double most = values[kept - 1];
  return rows_where(rows, variable, [&](double value) { return value > most; });
}

std::vector<Division> by_ends(const ScalingRows& rows, const std::vector<std::size_t>& variables) {
  constexpr std::size_t kLeastTrain = 3;
  std::vector<Division> divisions;
  const auto add = [&](Division one) {
    if (one.test.empty() || one.train.size() < kLeastTrain) return;
    const bool known = std::any_of(divisions.begin(), divisions.end(),
                                   [&](const Division& other) { return other.test == one.test; });
    if (!known) divisions.push_back(std::move(one));
  };
  for (const std::size_t part : {6, 3, 2}) {
    std::vector<std::vector<bool>> left_out;
    for (const std::size_t variable : variables) {
      left_out.push_back(at_the_end(rows, variable, part));
      add(leave_out({left_out.back()}));
    }
    if (variables.size() > 1) add(leave_out(left_out));
  }
  return divisions;
}

Division leave_out(const std::vector<std::vector<bool>>& left_out) {
  Division division;
  const std::size_t needed = left_out.size() > 1 ? 2 : 1;
  for (std::size_t i = 0; i < left_out.front().size(); ++i) {
    std::size_t times = 0;
    for (const std::vector<bool>& one : left_out) times += one[i] ? 1 : 0;
    if (times == 0) division.train.push_back(i);
    if (times >= needed) division.test.push_back(i);
  }
  return division;
}

}  // namespace foretrain::train
