// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/regression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "foretrain/base/error.h"
#include "foretrain/base/format.h"
#include "foretrain/train/dense.h"
#include "foretrain/train/forest.h"
#include "foretrain/train/linear.h"
#include "foretrain/train/support_vectors.h"

namespace foretrain::train {
namespace {

constexpr std::array kMethods{Method::Ernest,   Method::Costs, Method::Ridge,  Method::Lasso,
                              Method::Stepwise, Method::Tree,  Method::Forest, Method::Xgboost,
                              Method::Svr,      Method::Mlp};
constexpr std::array<std::string_view, kMethods.size()> kNames{
    "ernest", "costs", "ridge", "lasso", "stepwise", "tree", "forest", "xgboost", "svr", "mlp"};

BoostOptions boosting(const Setting& setting, std::uint64_t seed) {
  return {.rounds = 150,
          .rate = 0.1,
          .depth = static_cast<int>(setting.size),
          .rows = 0.8,
          .columns = 1,
          .least_weight = 1,
          .shrinkage = 1,
          .seed = seed};
}

}  // namespace

std::span<const Method> all_methods() { return kMethods; }

std::string_view name_of(Method method) { return kNames.at(static_cast<std::size_t>(method)); }

std::optional<Method> method_named(std::string_view name) {
  for (const Method method : kMethods) {
    if (name_of(method) == name) return method;
  }
  return std::nullopt;
}

std::string text_of(const Setting& setting) {
  const std::string name(name_of(setting.method));
  switch (setting.method) {
    case Method::Ernest:
    case Method::Costs:
      return name;
    case Method::Ridge:
    case Method::Lasso:
      return name + format(", degree %zu, strength %.3g", setting.degree, setting.strength) +
             (setting.size > 0 ? format(", %zu features", setting.size) : "");
    case Method::Stepwise:
      return name + format(", degree %zu, at most %zu features", setting.degree, setting.size);
    case Method::Tree:
    case Method::Forest:
      return name + format(", leaves of %zu", setting.size);
    case Method::Xgboost:
      return name + format(", depth %zu", setting.size);
    case Method::Svr:
      return name + format(", cost %.3g", setting.strength) +
             (setting.size > 1 ? format(", breadth %zu", setting.size) : "");
    case Method::Mlp:
      break;
  }
  return name + format(", width %zu", setting.size);
}

std::vector<Setting> grid_of(Method method) {
  std::vector<Setting> grid;
  const auto add = [&](std::size_t degree, double strength, std::size_t size) {
    grid.push_back({method, degree, strength, size});
  };
  switch (method) {
    case Method::Ernest:
    case Method::Costs:
      add(1, 0, 0);
      break;
    case Method::Ridge:
    case Method::Lasso:
      for (const std::size_t degree : {1, 2}) {
        for (const double strength : {1e-6, 1e-4, 1e-2, 0.1, 1.0}) add(degree, strength, 0);
      }
      if (method == Method::Ridge) add(2, 1e-4, 10);
      break;
    case Method::Stepwise:
      for (const std::size_t degree : {1, 2}) {
        for (const std::size_t size : {4, 8}) add(degree, 0, size);
      }
      break;
    case Method::Tree:
    case Method::Forest:
      for (const std::size_t size : {1, 3, 8}) add(1, 0, size);
      break;
    case Method::Xgboost:
      for (const std::size_t size : {2, 4, 6}) add(1, 0, size);
      break;
    case Method::Svr:
      for (const double strength : {1.0, 10.0, 100.0}) add(1, strength, 0);
      break;
    case Method::Mlp:
      for (const std::size_t size : {4, 12}) add(1, 0, size);
      break;
  }
  return grid;
}

std::vector<Setting> fine_grid_of(Method method) {
  std::vector<Setting> grid;
  const auto add = [&](std::size_t degree, double strength, std::size_t size) {
    grid.push_back({method, degree, strength, size});
  };
  const auto add_sizes = [&](std::size_t least, std::size_t most) {
    for (std::size_t size = least; size <= most; ++size) add(1, 0, size);
  };
  switch (method) {
    case Method::Ernest:
    case Method::Costs:
      return grid_of(method);
    case Method::Ridge:
    case Method::Lasso:
      for (const std::size_t degree : {1, 2}) {
        for (int power = -14; power <= 1; ++power) add(degree, std::pow(10, power / 2.0), 0);
      }
      break;
    case Method::Stepwise:
      for (const std::size_t degree : {1, 2}) {
        for (std::size_t size = 2; size <= 12; ++size) add(degree, 0, size);
      }
      break;
    case Method::Tree:
    case Method::Forest:
      add_sizes(1, 12);
      break;
    case Method::Xgboost:
      add_sizes(1, 8);
      break;
    case Method::Svr:
      for (int power = -2; power <= 6; ++power) add(1, std::pow(10, power / 2.0), 0);
      break;
    case Method::Mlp:
      add_sizes(2, 16);
      break;
  }
  return grid;
}

bool is_of_plain_time(Method method) {
  return method == Method::Ernest || method == Method::Costs || method == Method::Lasso;
}

bool makes_products(Method method) {
  return method == Method::Tree || method == Method::Forest || method == Method::Xgboost ||
         method == Method::Svr || method == Method::Mlp;
}

std::vector<std::size_t> heaviest_features(const BoostData& data, std::size_t count,
                                           std::uint64_t seed) {
  const learn::Trees trees = boost(data, boosting({.size = 4}, seed));
  std::vector<std::size_t> divisions(data.features.front().size());
  for (const learn::TreeNode& node : trees.nodes) {
    if (node.feature >= 0) ++divisions[static_cast<std::size_t>(node.feature)];
  }
  std::vector<std::size_t> order(divisions.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return divisions[a] > divisions[b]; });
  order.resize(std::min(count, order.size()));
  std::sort(order.begin(), order.end());
  return order;
}

learn::Regressor fit_regressor(const BoostData& data, const Setting& setting,
                               const std::vector<std::size_t>& fold, std::uint64_t seed) {
  if (data.features.empty()) throw Error(ErrorKind::BadInput, "there is no run to learn from");
  switch (setting.method) {
    case Method::Ernest:
    case Method::Costs:
      return fit_nonnegative(data);
    case Method::Ridge:
      if (setting.size == 0) return fit_ridge(data, setting.strength);
      return fit_ridge(data, setting.strength, heaviest_features(data, setting.size, seed));
    case Method::Lasso:
      return fit_lasso(data, setting.strength);
    case Method::Stepwise:
      return fit_stepwise(data, fold, setting.size);
    case Method::Tree:
      return grow_forest(data, {.least_rows = setting.size, .seed = seed});
    case Method::Forest:
      return grow_forest(data,
                         {.trees = 60, .least_rows = setting.size, .columns = 0.7, .seed = seed});
    case Method::Xgboost:
      return boost(data, boosting(setting, seed));
    case Method::Svr:
      return fit_support_vectors(data, setting.strength,
                                 static_cast<double>(std::max<std::size_t>(1, setting.size)));
    case Method::Mlp:
      break;
  }
  return fit_dense(data, setting.size, seed);
}

}  // namespace foretrain::train
