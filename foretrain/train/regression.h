// SPDX-License-Identifier: Apache-2.0
// Regressors of every kind from rows of features: one set for all engines that learn times.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/learn/regressor.h"
#include "foretrain/train/boost.h"

namespace foretrain::train {

enum class Method { Ernest, Costs, Ridge, Lasso, Stepwise, Tree, Forest, Xgboost, Svr, Mlp };
std::span<const Method> all_methods();
std::string_view name_of(Method method);  // "ernest", "ridge", ...
std::optional<Method> method_named(std::string_view name);

// A method with its hyper-parameters.
struct Setting {
  Method method = Method::Ridge;
  std::size_t degree = 1;  // of the products of features, for linear methods
  double strength = 0;     // ridge, lasso: of the penalty; svr: of what errors cost
  // stepwise: features; ridge: features with the largest weight in boosted trees, 0 for all; trees:
  // rows in a leaf; xgboost: depth; mlp: width; svr: breadth of the kernel, 0 as 1
  std::size_t size = 0;
};
std::string text_of(const Setting& setting);  // "ridge, degree 2, strength 0.001"

// The settings of a method that are tried one by one, and more of them for a search that tries few.
std::vector<Setting> grid_of(Method method);
std::vector<Setting> fine_grid_of(Method method);

// Whether the method wants the time itself and weights that are not negative, or its logarithm.
bool is_of_plain_time(Method method);
// Whether it makes its own products of the plain variables.
bool makes_products(Method method);

// Those that boosted trees divide by most often, in their order.
std::vector<std::size_t> heaviest_features(const BoostData& data, std::size_t count,
                                           std::uint64_t seed);

// `fold`: of each row, for methods that divide them. Throws Error(BadInput) for no row.
learn::Regressor fit_regressor(const BoostData& data, const Setting& setting,
                               const std::vector<std::size_t>& fold, std::uint64_t seed);

}  // namespace foretrain::train
