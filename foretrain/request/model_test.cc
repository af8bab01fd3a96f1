// SPDX-License-Identifier: Apache-2.0
#include "foretrain/request/model.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"

namespace foretrain {
namespace {

TEST(Model, IsBuiltOnceForAllCopies) {
  const Model model("mlp");
  const Model copy = model;
  EXPECT_EQ(&copy.graph(), &model.graph());
  EXPECT_EQ(&model.graph(), &model.graph());
  EXPECT_EQ(model.graph().name, "mlp");
}

// Only who wants the graph hears what is wrong with it, each time.
TEST(Model, ComplainsWhenItsGraphIsWanted) {
  const Model model("no-such-model");
  EXPECT_THROW(model.graph(), Error);
  EXPECT_THROW(model.graph(), Error);
  EXPECT_THROW(Model("model.onnx", false).graph(), Error);
}

TEST(Model, IsBuiltInWhereTheNameSaysAll) {
  EXPECT_TRUE(Model("mlp").is_built_in());
  EXPECT_FALSE(Model("model.onnx").is_built_in());
  const auto graph = std::make_shared<const graph::Graph>();
  const Model in_memory("mlp", graph);
  EXPECT_FALSE(in_memory.is_built_in());
  EXPECT_EQ(&in_memory.graph(), graph.get());
}

}  // namespace
}  // namespace foretrain
