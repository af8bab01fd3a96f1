// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "foretrain/graph/attr_names.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/optimizer.h"

namespace foretrain::graph {
namespace {

TEST(OpTable, HasARowForEveryKindInOrder) {
  std::set<std::string_view> names;
  for (int k = 0; k < kKinds; ++k) {
    const auto kind = static_cast<Kind>(k);
    EXPECT_EQ(op(kind).kind, kind);
    EXPECT_EQ(kind_named(op(kind).name), kind);
    EXPECT_NE(op(kind).infer, nullptr);
    EXPECT_NE(op(kind).work, nullptr);
    EXPECT_FALSE(op(kind).axes.empty()) << op(kind).name;
    names.insert(op(kind).name);
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kKinds));
  EXPECT_EQ(kind_named("no such operator"), std::nullopt);
}

TEST(AttrNames, AreFoundByNameAndDistinct) {
  std::set<std::string> names;
  for (const std::string& name : attr_names()) {
    const std::optional<Attr> attr = attr_named(name);
    ASSERT_TRUE(attr) << name;
    EXPECT_EQ(attr_name(*attr), name);
    names.insert(name);
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Attr::Indexed) + 1);
  EXPECT_EQ(attr_named("colour"), std::nullopt);
  EXPECT_EQ(attr_form(Attr::Kernel), AttrForm::Numbers);
  EXPECT_EQ(attr_form(Attr::Of), AttrForm::Operators);
}

TEST(AttrNames, RolesAndPhasesAreFoundByName) {
  EXPECT_EQ(role_named(role_name(Role::OptimizerState)), Role::OptimizerState);
  EXPECT_EQ(phase_named(phase_name(Phase::Backward)), Phase::Backward);
  EXPECT_EQ(role_named("king"), std::nullopt);
  EXPECT_EQ(phase_named(""), std::nullopt);
}

TEST(Optimizers, AreInTheOrderOfTheirEnumeration) {
  for (std::size_t i = 0; i < kOptimizers.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kOptimizers[i].optimizer), i);
    EXPECT_EQ(optimizer_named(kOptimizers[i].name), kOptimizers[i].optimizer);
  }
}

TEST(Attributes, AreEqualInWhateverOrderTheyAreSet) {
  Attributes a{{Attr::Stride, {2}}, {Attr::Kernel, {3, 3}}};
  Attributes b;
  b.set(Attr::Kernel, {3, 3});
  b.set(Attr::Stride, {1});
  EXPECT_FALSE(a == b);
  b.set(Attr::Stride, {2});
  EXPECT_EQ(a, b);
}

TEST(Attributes, GiveASingleValueForAllAxes) {
  const Attributes attributes{{Attr::Kernel, {3}}, {Attr::Stride, {1, 2}}, {Attr::Axes, {}}};
  EXPECT_EQ(attributes.at(Attr::Kernel, 1, 9), 3);
  EXPECT_EQ(attributes.at(Attr::Stride, 1, 9), 2);
  EXPECT_EQ(attributes.at(Attr::Padding, 0, 9), 9);
  EXPECT_EQ(attributes.number(Attr::Axes, 9), 9);
}

}  // namespace
}  // namespace foretrain::graph
