// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/feature_map.h"

#include <array>
#include <cassert>
#include <cmath>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::learn {
namespace {

constexpr std::array<std::pair<TermKind, std::string_view>, 3> kKinds{
    {{TermKind::Inverse, "inv"}, {TermKind::Log, "log"}, {TermKind::Several, "several"}}};

double value_of(TermKind kind, double x) {
  switch (kind) {
    case TermKind::Raw:
      return x;
    case TermKind::Inverse:
      return 1 / x;
    case TermKind::Log:
      return std::log(x);
    case TermKind::Several:
      break;
  }
  return x > 1 ? 1 : 0;
}

Term term_from(std::string_view text, std::span<const std::string> variables,
               const std::string& where) {
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (text == variables[i]) return {i, TermKind::Raw};
    for (const auto& [kind, name] : kKinds) {
      if (text == std::string(name) + "(" + variables[i] + ")") return {i, kind};
    }
  }
  throw Error(ErrorKind::BadInput, where + ": '" + printable(text) + "' is no feature");
}

}  // namespace

std::vector<double> evaluate(const FeatureMap& map, std::span<const double> values) {
  std::vector<double> features;
  features.reserve(map.features.size());
  for (const Product& product : map.features) {
    double feature = 1;
    for (const Term& term : product) {
      assert(term.variable < values.size());
      feature *= value_of(term.kind, values[term.variable]);
    }
    features.push_back(feature);
  }
  return features;
}

std::string name_of(const Product& product, std::span<const std::string> variables) {
  std::string text;
  for (const Term& term : product) {
    if (!text.empty()) text += '*';
    std::string name = variables[term.variable];
    for (const auto& [kind, word] : kKinds) {
      if (kind == term.kind) name = std::string(word) + "(" + name + ")";
    }
    text += name;
  }
  return text;
}

Product product_from(std::string_view text, std::span<const std::string> variables,
                     const std::string& where) {
  Product product;
  while (true) {
    const std::size_t end = text.find('*');
    product.push_back(term_from(text.substr(0, end), variables, where));
    if (end == std::string_view::npos) return product;
    text.remove_prefix(end + 1);
  }
}

FeatureMap all_products(std::span<const std::size_t> use, const std::vector<bool>& counted,
                        std::size_t degree) {
  FeatureMap map;
  std::vector<Product> last{{}};  // products of the degree before
  for (std::size_t d = 0; d < degree; ++d) {
    std::vector<Product> next;
    for (const Product& product : last) {
      for (const std::size_t variable : use) {
        if (!product.empty() && variable <= product.back().variable) continue;
        for (const TermKind kind :
             {TermKind::Raw, TermKind::Inverse, TermKind::Log, TermKind::Several}) {
          if (kind == TermKind::Several && !counted[variable]) continue;
          next.push_back(product);
          next.back().push_back({variable, kind});
        }
      }
    }
    map.features.insert(map.features.end(), next.begin(), next.end());
    last = std::move(next);
  }
  return map;
}

}  // namespace foretrain::learn
