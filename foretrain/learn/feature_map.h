// SPDX-License-Identifier: Apache-2.0
// Features made of a few positive variables, such as workers and batch: inverses, logarithms and
// products of them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain::learn {

enum class TermKind {
  Raw,      // x
  Inverse,  // 1 / x
  Log,      // log x
  Several,  // 1 where x is above 1, else 0: several workers, several nodes
};

struct Term {
  std::size_t variable = 0;
  TermKind kind = TermKind::Raw;
  bool operator==(const Term&) const = default;
};

using Product = std::vector<Term>;  // one feature

struct FeatureMap {
  std::vector<Product> features{};
};

// The features of these values, which must be positive and as many as the map knows.
std::vector<double> evaluate(const FeatureMap& map, std::span<const double> values);

// "samples*inv(workers)", "log(workers)", "several(nodes)", and back. Throws Error(BadInput) naming
// `where` for what is no such text.
std::string name_of(const Product& product, std::span<const std::string> variables);
Product product_from(std::string_view text, std::span<const std::string> variables,
                     const std::string& where);

// Every term of the variables of `use`, then their products, up to `degree` different variables in
// one. `Several` only of `counted` variables.
FeatureMap all_products(std::span<const std::size_t> use, const std::vector<bool>& counted,
                        std::size_t degree);

}  // namespace foretrain::learn
