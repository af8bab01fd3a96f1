// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/detail/sustained.h"

#include <gtest/gtest.h>

#include <cmath>

#include "foretrain/cost/test_device.h"

namespace foretrain::cost {
namespace {

// Both limits at 10 TFLOP/s: 10 * 2^-0.1 = 9.330 TFLOP/s.
TEST(PowerLimited, EqualLimitsLoseSevenPercent) {
  EXPECT_NEAR(power_limited(10e12, 1, 100, 10e-12), 9.330e12, 1e9);
}

TEST(PowerLimited, TheLowerLimitDecidesFarFromTheOther) {
  EXPECT_NEAR(power_limited(10e12, 0.5, 1000, 10e-12), 5e12, 1e6);
  EXPECT_NEAR(power_limited(1000e12, 1, 100, 10e-12), 10e12, 1e6);
}

TEST(PowerLimited, UnknownPowerLeavesTheCap) {
  EXPECT_EQ(power_limited(10e12, 0.8, 0, 10e-12), 8e12);
  EXPECT_EQ(power_limited(0, 0.8, 300, 10e-12), 0);
}

TEST(PowerLimited, GrowsWithPeakAndPower) {
  double before = 0;
  for (double peak = 1e12; peak < 1e15; peak *= 1.1) {
    const double now = power_limited(peak, 0.86, 300, 2.6e-12);
    EXPECT_GE(now, before);
    before = now;
  }
  before = 0;
  for (double power = 1; power < 1e4; power *= 1.1) {
    const double now = power_limited(100e12, 0.86, power, 2.6e-12);
    EXPECT_GE(now, before);
    before = now;
  }
}

// 300 W / 17 = 17.647 TFLOP/s against 15.7: (15.7 / 17.647)^10 = 0.3107, 15.7 * 1.3107^-0.1.
TEST(SustainedFp32, V100KeepsNinetySevenPercent) {
  EXPECT_NEAR(sustained_fp32(v100(), test_model().constants), 15.281e12, 5e9);
}

TEST(SustainedFp32, AMeasuredRateWins) {
  hw::Device device = v100();
  device.sustained_gemm_flops_per_s = 12e12;
  EXPECT_EQ(sustained_fp32(device, test_model().constants), 12e12);
  EXPECT_NEAR(sustained_conv_fp32(device, 1, test_model().constants), 0.988 * 15.7e12, 1);
}

TEST(SustainedFp32, OldGenerationsReachLess) {
  hw::Device device = round_device();
  device.architecture = "kepler";
  EXPECT_NEAR(sustained_fp32(device, test_model().constants), 3.5e12, 1);
  EXPECT_NEAR(sustained_conv_fp32(device, 1, test_model().constants), 3.5e12, 1);
  device.architecture = "maxwell";
  EXPECT_NEAR(sustained_fp32(device, test_model().constants), 8.3e12, 1);
}

// T4: 70 W / (2.6 * 65 TFLOP/s) = 0.414 of the peak, far below 0.86.
TEST(SustainedTensor, PowerLimitsTheT4) {
  hw::Device device = v100();
  device.architecture = "turing";
  device.tensor_fp16_flops_per_s = 65e12;
  device.tdp_w = 70;
  EXPECT_NEAR(sustained_tensor(device, Precision::Fp16, 0.86, test_model().constants) / 65e12,
              0.414, 1e-3);
}

TEST(SustainedTensor, AbsentWhereTheDeviceHasNone) {
  EXPECT_EQ(sustained_tensor(v100(), Precision::Bf16, 0.86, test_model().constants), 0);
  EXPECT_EQ(sustained_tensor(v100(), Precision::Fp32, 0.86, test_model().constants), 0);
}

TEST(BandwidthShare, FollowsTheMemory) {
  EXPECT_EQ(bandwidth_share(v100(), test_model().constants), 0.91);
  EXPECT_EQ(bandwidth_share(round_device(), test_model().constants), 0.87);
  hw::Device device = v100();
  device.memory_type = "gddr6";
  EXPECT_EQ(bandwidth_share(device, test_model().constants), 0.76);
  device.memory_type = "gddr6x";
  EXPECT_EQ(bandwidth_share(device, test_model().constants), 0.9);
  device.memory_type = "gddr6";  // from GA10x on, where none of it is error correction's
  device.architecture = "ada";
  device.fp32_cores_per_sm = 128;
  EXPECT_EQ(bandwidth_share(device, test_model().constants), 0.9);
  device.ecc_bytes = device.memory_bytes / 16;
  EXPECT_EQ(bandwidth_share(device, test_model().constants), 0.76);
}

// 71 TFLOP/s are twice the RTX 3090's fp32 peak, half of what its tensor cores reach without fp32
// sums; the A40's 149.7 are four times.
TEST(TensorCap, BoardsOfHalvedRateExceedTheirDatasheet) {
  hw::Device device = v100();
  device.architecture = "ampere";
  device.fp32_cores_per_sm = 128;
  device.fp32_flops_per_s = 35.6e12;
  device.tensor_fp16_flops_per_s = 71e12;
  EXPECT_NEAR(tensor_cap(device, 0.86, test_model().constants), 1.06, 0.01);
  device.fp32_flops_per_s = 37.4e12;
  device.tensor_fp16_flops_per_s = 149.7e12;
  EXPECT_EQ(tensor_cap(device, 0.86, test_model().constants), 0.86);
  EXPECT_EQ(tensor_cap(v100(), 0.86, test_model().constants), 0.86);
}

TEST(SustainedFp32, RadeonsReachLessAndTwiceAsMuchInSixteenBits) {
  hw::Device device = round_device();
  device.vendor = "amd";
  device.architecture = "rdna2";
  device.fp16_flops_per_s = 20e12;
  device.tensor_fp16_flops_per_s.reset();
  device.tensor_bf16_flops_per_s.reset();
  device.tensor_tf32_flops_per_s.reset();
  EXPECT_NEAR(sustained_fp32(device, test_model().constants), 4.5e12, 1);
  const Framework& framework = framework_named("pytorch");
  const Context wide = context_for(device, framework, Precision::Fp32, test_model());
  const Context half = context_for(device, framework, Precision::Fp16, test_model());
  EXPECT_NEAR(half.conv_flops_per_s / wide.conv_flops_per_s, 2, 1e-9);
  EXPECT_NEAR(half.gemm_flops_per_s / wide.gemm_flops_per_s, 2, 1e-9);
}

// 1/64 of 10 TFLOP/s, times 0.988. 100 W allow 100 / (0.7353 * 17) = 8 TFLOP/s of fp32 and half as
// many of fp64. What keeps RDNA's fp32 kernels at 0.45 of their peak does not keep these.
TEST(SustainedConvFp64, FewUnitsAreLimitedByNothingElse) {
  const Constants& constants = test_model().constants;
  hw::Device device = round_device();
  device.architecture = "turing";
  device.tdp_w = 100;
  device.fp64_flops_per_s = 10e12 / 64;
  EXPECT_NEAR(sustained_conv_fp64(device, 1, constants), 0.988 * 10e12 / 64, 1e6);
  EXPECT_LT(sustained_conv_fp32(device, 1, constants), 8e12);
  device.architecture = "rdna2";
  EXPECT_NEAR(sustained_conv_fp64(device, 1, constants), 0.988 * 10e12 / 64, 1e6);
}

// Half as many units as for fp32, each of which draws twice as much: half of fp32's rate.
TEST(SustainedConvFp64, PowerLimitsManyUnits) {
  const Constants& constants = test_model().constants;
  hw::Device device = round_device();
  device.architecture = "volta";
  device.tdp_w = 100;
  device.fp64_flops_per_s = 5e12;
  EXPECT_NEAR(sustained_conv_fp64(device, 1, constants),
              0.5 * sustained_conv_fp32(device, 1, constants), 1e6);
}

TEST(ContextFor, IsFiniteForADeviceOfWhichNothingIsKnown) {
  const Framework& framework = framework_named("pytorch");
  const hw::Device nothing;
  for (const Precision precision : {Precision::Fp32, Precision::Fp16, Precision::Fp64}) {
    const Context context = context_for(nothing, framework, precision, test_model());
    for (const double rate : {context.matrix_flops_per_s, context.vector_flops_per_s,
                              context.memory_bytes_per_s, context.conv_flops_per_s}) {
      EXPECT_TRUE(std::isfinite(rate));
      EXPECT_GT(rate, 0);
    }
  }
}

// 82.6 TFLOP/s in TF32 of a board whose tensor cores run at half their rate, no power limit: what
// feeds them has room for four bytes, 1.06 of the peak; at the full rate 0.86 * 0.87 of it.
TEST(SustainedTensor, WiderOperandsSlowOnlyTheFullRate) {
  const Constants& constants = test_model().constants;
  hw::Device device = round_device();
  device.architecture = "ada";
  device.fp32_cores_per_sm = 128;
  device.fp32_flops_per_s = 82.6e12;
  device.tensor_fp16_flops_per_s = 165.2e12;
  device.tensor_tf32_flops_per_s = 82.6e12;
  const auto rate = [&] {
    const double cap = tensor_cap(device, constants.cap.tensor, constants);
    return sustained_tensor(device, Precision::Tf32, cap, constants);
  };
  EXPECT_NEAR(rate(), 1.06 * 82.6e12, 1e6);
  device.tensor_fp16_flops_per_s = 330.4e12;
  device.fp32_flops_per_s = 41.3e12;
  EXPECT_NEAR(rate(), 0.86 * 0.87 * 82.6e12, 1e6);
}

}  // namespace
}  // namespace foretrain::cost
