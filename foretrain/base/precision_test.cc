// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/precision.h"

#include <gtest/gtest.h>

namespace foretrain {
namespace {

TEST(Precision, HalfIsWhatMixedPrecisionComputesIn) {
  for (const Precision one : {Precision::Fp16, Precision::Bf16, Precision::Fp8}) {
    EXPECT_TRUE(is_half(one)) << to_string(one);
  }
  for (const Precision one : {Precision::Fp32, Precision::Tf32, Precision::Fp64}) {
    EXPECT_FALSE(is_half(one)) << to_string(one);
  }
}

// By the definition of each format: IEEE 754 binary16, 32 and 64, bfloat16, one-byte fp8.
TEST(DType, SizesAreThoseOfTheFormats) {
  EXPECT_EQ(bytes_of(DType::F32), 4);
  EXPECT_EQ(bytes_of(DType::F16), 2);
  EXPECT_EQ(bytes_of(DType::BF16), 2);
  EXPECT_EQ(bytes_of(DType::F8), 1);
  EXPECT_EQ(bytes_of(DType::F64), 8);
  EXPECT_EQ(bytes_of(DType::I64), 8);
  EXPECT_EQ(bytes_of(DType::I32), 4);
  EXPECT_EQ(bytes_of(DType::I8), 1);
  EXPECT_EQ(bytes_of(DType::Bool), 1);
}

TEST(DType, KnowsWhatIsFloating) {
  for (const DType type : {DType::F32, DType::F16, DType::BF16, DType::F8, DType::F64}) {
    EXPECT_TRUE(is_floating(type)) << to_string(type);
  }
  for (const DType type : {DType::I64, DType::I32, DType::I8, DType::Bool}) {
    EXPECT_FALSE(is_floating(type)) << to_string(type);
  }
}

}  // namespace
}  // namespace foretrain
