// SPDX-License-Identifier: Apache-2.0
// The repeated blocks of the built-in models: as many as their papers say.
#include "foretrain/graph/blocks.h"

#include <gtest/gtest.h>

#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

struct Row {
  std::string model;
  std::size_t blocks;
  std::string first;
};

class BlocksOf : public ::testing::TestWithParam<Row> {};

TEST_P(BlocksOf, AreAsPublished) {
  const graph::Graph model = build(GetParam().model);
  const graph::Blocks blocks = graph::find_blocks(model);
  ASSERT_EQ(blocks.scopes.size(), GetParam().blocks) << GetParam().model;
  if (!blocks.scopes.empty()) {
    EXPECT_EQ(blocks.scopes.front(), GetParam().first);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Zoo, BlocksOf,
    ::testing::Values(
        Row{"resnet18", 2 + 2 + 2 + 2, "layer1.0"}, Row{"resnet50", 3 + 4 + 6 + 3, "layer1.0"},
        Row{"resnet56-cifar", 3 * 9, "layer1.0"},  // (56 - 2) / 6 per stage
        Row{"fasterrcnn_resnet50_fpn", 16, "backbone.body.layer1.0"},
        Row{"densenet121", 6 + 12 + 24 + 16, "features.denseblock1.denselayer1"},
        Row{"googlenet", 9, "inception3a"}, Row{"inception_v3", 11, "Mixed_5b"},
        Row{"squeezenet1_0", 8, "features.3"}, Row{"mobilenet_v2", 17, "features.1"},
        Row{"mobilenet_v3_small", 11, "features.1"}, Row{"efficientnet_b0", 16, "features.1.0"},
        Row{"mnasnet1_0", 16, "layers.8.0"}, Row{"shufflenet_v2_x1_0", 4 + 8 + 4, "stage2.0"},
        Row{"regnet_y_400mf", 1 + 3 + 6 + 6, "trunk_output.block1.block1-0"},
        Row{"convnext_tiny", 3 + 3 + 9 + 3, "features.1.0"},
        Row{"swin_t", 2 + 2 + 6 + 2, "features.1.0"},
        Row{"vit_b_16", 12, "encoder.layers.encoder_layer_0"},
        Row{"bert-base", 12, "bert.encoder.layer.0"}, Row{"gpt2", 12, "transformer.h.0"},
        Row{"llama2-7b", 32, "model.layers.0"}, Row{"mixtral-8x7b", 32, "model.layers.0"},
        Row{"t5-small", 6 + 6, "encoder.block.0"},
        Row{"transformer-base", 6 + 6, "encoder.layers.0"},
        Row{"bart-base", 6 + 6, "model.encoder.layers.0"}, Row{"vgg16", 0, ""},
        Row{"lstm-lm", 0, ""}, Row{"mlp", 0, ""}));

// Embedding, final norm and head are the rest: 124,439,808 parameters, of which 12 blocks have
// 12 h^2 + 13 h = 7,087,872 each.
TEST(BlocksOfGpt2, HoldTheParametersOfTwelveLayers) {
  const graph::Graph model = build("gpt2");
  const graph::Blocks blocks = graph::find_blocks(model);
  std::int64_t inside = 0;
  for (std::size_t t = 0; t < model.tensors.size(); ++t) {
    if (model.tensors[t].role == graph::Role::Parameter && blocks.of_tensor[t]) {
      inside += graph::elements(model.tensors[t].shape).factor;
    }
  }
  EXPECT_EQ(inside, 12 * 7'087'872);
}

}  // namespace
}  // namespace foretrain::zoo
