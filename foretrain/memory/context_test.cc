// SPDX-License-Identifier: Apache-2.0
#include "foretrain/memory/context.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"

namespace foretrain::memory {
namespace {

TEST(ContextBytes, AreThoseOfTheArchitecture) {
  const ContextBytes context{{{"volta", 4}}, 3, 2, 1, 5};
  EXPECT_EQ(gpu_context_bytes(context, "volta"), 4);
  EXPECT_EQ(gpu_context_bytes(context, "voltaic"), 3);
}

TEST(ContextBytes, AreReadAsTheyWereWritten) {
  const ContextBytes read =
      read_context_bytes(write_context_bytes({{{"volta", 4}}, 3, 2, 1, 5}, {}), "file");
  EXPECT_EQ(read.gpu.at("volta"), 4);
  EXPECT_EQ(read.other_gpu, 3);
  EXPECT_EQ(read.cpu, 2);
  EXPECT_EQ(read.collectives, 1);
  EXPECT_EQ(read.nvlink_collectives, 5);
  EXPECT_THROW(
      read_context_bytes(
          R"({"format": "foretrain-memory-context", "version": 1, "gpu_bytes": {"a": 1}})", "file"),
      Error);
}

}  // namespace
}  // namespace foretrain::memory
