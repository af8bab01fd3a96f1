// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/feature_map.h"

#include <gtest/gtest.h>

#include <cmath>

#include "foretrain/base/error.h"

namespace foretrain::learn {
namespace {

const std::vector<std::string> kVariables{"samples", "workers"};

// Ernest's features of 1,000 samples on 4 workers: 1000 / 4, log 4, 4.
TEST(FeatureMap, GivesErnestsFeatures) {
  FeatureMap map;
  for (const char* text : {"samples*inv(workers)", "log(workers)", "workers", "several(workers)"}) {
    map.features.push_back(product_from(text, kVariables, "test"));
  }
  const std::vector<double> values = evaluate(map, std::vector<double>{1000, 4});
  EXPECT_DOUBLE_EQ(values[0], 250);
  EXPECT_DOUBLE_EQ(values[1], std::log(4.0));
  EXPECT_DOUBLE_EQ(values[2], 4);
  EXPECT_DOUBLE_EQ(values[3], 1);
  EXPECT_DOUBLE_EQ(evaluate(map, std::vector<double>{1000, 1})[3], 0);
}

TEST(FeatureMap, NamesReadBackAsWhatTheyName) {
  for (const Product& product :
       all_products(std::vector<std::size_t>{0, 1}, {false, true}, 2).features) {
    const std::string name = name_of(product, kVariables);
    EXPECT_EQ(product_from(name, kVariables, "test"), product) << name;
  }
  for (const char* wrong : {"", "cores", "log(cores)", "samples*", "exp(workers)"}) {
    EXPECT_THROW(product_from(wrong, kVariables, "test"), Error) << wrong;
  }
}

// Three terms of samples and four of workers: 7 alone, 3 x 4 pairs.
TEST(FeatureMap, AllProductsAreEachOnce) {
  const std::vector<std::size_t> use{0, 1};
  EXPECT_EQ(all_products(use, {false, true}, 1).features.size(), 7U);
  EXPECT_EQ(all_products(use, {false, true}, 2).features.size(), 7U + 12U);
  EXPECT_EQ(all_products(use, {false, true}, 3).features.size(), 7U + 12U);
}

}  // namespace
}  // namespace foretrain::learn
