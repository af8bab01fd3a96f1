// SPDX-License-Identifier: Apache-2.0
#include "foretrain/memory/detail/blobs.h"

#include <gtest/gtest.h>

namespace foretrain::memory {
namespace {

constexpr graph::NodeId kLastForward = 1;

double total(const std::vector<Storage>& storages) {
  double sum = 0;
  for (const Storage& s : storages) sum += static_cast<double>(s.bytes);
  return sum;
}

// 1000 and 2000 of the forward pass stay, though the first is not needed after node 1.
TEST(KeepBlobs, NothingOfTheForwardPassIsGivenBack) {
  const auto blobs = keep_blobs(
      {{.bytes = 1000, .born = 0, .last = 1}, {.bytes = 2000, .born = 1, .last = 4}}, kLastForward);
  ASSERT_EQ(blobs.size(), 2U);
  EXPECT_EQ(blobs[0].last, kForever);
  EXPECT_EQ(blobs[1].last, kForever);
}

// The gradients of nodes 2 and 3 live together: two buffers. That of node 4 begins when the first
// (500, until node 3) is free and makes it larger: 800 + 600.
TEST(KeepBlobs, GradientsShareBuffersThatGrow) {
  const auto blobs = keep_blobs({{.bytes = 500, .born = 2, .last = 3},
                                 {.bytes = 600, .born = 3, .last = 5},
                                 {.bytes = 800, .born = 4, .last = 5}},
                                kLastForward);
  ASSERT_EQ(blobs.size(), 2U);
  EXPECT_EQ(blobs[0].bytes, 800);
  EXPECT_EQ(blobs[1].bytes, 600);
}

// Two convolutions' workspaces are one, of the larger size; parameters' gradients are their own.
TEST(KeepBlobs, OneWorkspaceAndEachParametersGradient) {
  const auto blobs = keep_blobs({{.bytes = 64, .born = 0, .last = 0, .part = Part::Workspace},
                                 {.bytes = 100, .born = 2, .last = 6, .part = Part::Gradients},
                                 {.bytes = 128, .born = 3, .last = 3, .part = Part::Workspace},
                                 {.bytes = 100, .born = 4, .last = 6, .part = Part::Gradients}},
                                kLastForward);
  EXPECT_EQ(total(blobs), 128 + 200);
}

}  // namespace
}  // namespace foretrain::memory
