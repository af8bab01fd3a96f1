// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/detail/gemm.h"

#include <gtest/gtest.h>

#include "foretrain/cost/test_device.h"

namespace foretrain::cost {
namespace {

const Framework& pytorch() { return framework_named("pytorch"); }

TEST(Occupied, CountsWholeWavesByTheTail) {
  EXPECT_EQ(occupied(10, 10, 0.3), 10);
  EXPECT_EQ(occupied(3, 10, 0.3), 10);             // never less than a wave
  EXPECT_NEAR(occupied(11, 10, 0.3), 13.7, 1e-9);  // 11 + 0.3 * 9
  EXPECT_EQ(occupied(11, 10, 1), 20);
}

// 1280 x 1024 are 80 tiles of 128 x 128, one wave on 80 SMs:
//   compute 80 * 2 * 128^2 * 4096 / 15.281 TFLOP/s = 702.7 us.
// Traffic once 42.99 MB, by tiles 340.8 MB; 0.368 of the difference, times 42.99 / (42.99 + 6.29)
// that the L2 misses: 138.6 MB / (0.658 * 900 GB/s) = 234.0 us.
//   (702.7^2.12 + 234.0^2.12)^(1/2.12) + 4 = 738.1 us.
TEST(GemmVector, MatchesHandCalculation) {
  const hw::Device device = v100();
  const Context context = context_for(device, pytorch(), Precision::Fp32, test_model());
  const OpTime time = gemm_vector({.m = 1280, .n = 1024, .k = 4096}, context);
  EXPECT_NEAR(time.compute.count(), 702.7e-6, 0.3e-6);
  EXPECT_NEAR(time.memory.count(), 234.0e-6, 0.2e-6);
  EXPECT_NEAR(time.total.count(), 738.1e-6, 0.4e-6);
}

// 4 * 46 multiprocessors whose tiles run in squares miss half of that share: without an L2 traffic
// once 42.99 MB and 0.184 of the 297.8 MB more that tiles read, 97.79 MB / 0.658 TB/s = 148.6 us.
TEST(GemmVector, SquaresOfTilesShareWhatTheyRead) {
  hw::Device device = round_device();
  device.sms = 184;
  const auto memory = [&] {
    const Context context = context_for(device, pytorch(), Precision::Fp32, test_model());
    return gemm_vector({.m = 1280, .n = 1024, .k = 4096}, context).memory.count();
  };
  device.architecture = "volta";
  EXPECT_NEAR(memory(), (42.99 + 0.368 * 297.8) / 0.658e6, 0.2e-6);
  device.architecture = "ada";
  EXPECT_NEAR(memory(), 148.6e-6, 0.2e-6);
  device.sms = 40;
  EXPECT_NEAR(memory(), (42.99 + 0.368 * 297.8) / 0.658e6, 0.2e-6);
}

// GP100 has slower kernels, GP10x those of Maxwell: 0.77 of the cap of 64 cores, 0.83 of the peak.
TEST(GemmVector, PascalsOf128CoresHaveTheKernelsOfMaxwell) {
  hw::Device device = round_device();
  device.architecture = "pascal";
  device.fp32_cores_per_sm = 64;
  const Gemm gemm{.m = 1280, .n = 1280, .k = 8192};
  const auto compute = [&] {
    const Context context = context_for(device, pytorch(), Precision::Fp32, test_model());
    return gemm_vector(gemm, context).compute.count();
  };
  const double ideal = 2.0 * 1280 * 1280 * 8192 / 10e12;
  EXPECT_NEAR(ideal / compute(), 0.77, 1e-3);
  device.fp32_cores_per_sm = 128;
  EXPECT_NEAR(ideal / compute(), 0.83, 1e-3);
}

// 128 x 944 by 944 x 128 is one tile and moves 1.032 MB; a tenth of 10 MB of L2 may hold a part:
//   1.032^2 / (1.032 + 1) = 0.5243 MB / 0.658 TB/s = 0.7968 us.
TEST(GemmVector, FindsAPartOfSmallOperandsInTheCache) {
  hw::Device device = round_device();
  device.l2_bytes = 10e6;
  Constants constants = test_model().constants;
  constants.conv.cache = 0.1;
  const OperatorModel model = make_operator_model(constants);
  const Context context = context_for(device, pytorch(), Precision::Fp32, model);
  const OpTime time = gemm_vector({.m = 128, .n = 128, .k = 944}, context);
  EXPECT_NEAR(time.memory.count(), 0.7968e-6, 0.0002e-6);
}

// fp16 at 0.86 of 100 TFLOP/s: 1280 x 1024 are 40 tiles of 256 x 128 on 10 SMs, four waves:
//   40 * 2 * 256 * 128 * (922 + 78) / 86 TFLOP/s = 30.48 us.
TEST(GemmTensor, MatchesHandCalculation) {
  const hw::Device device = round_device();
  const Context context = context_for(device, pytorch(), Precision::Fp16, test_model());
  const Gemm gemm{.m = 1280, .n = 1024, .k = 922, .in_bytes = 2, .out_bytes = 2};
  const OpTime time = gemm_time(gemm, DType::F16, true, context);
  EXPECT_NEAR(time.compute.count(), 30.48e-6, 0.01e-6);
  // 2 (1280 * 922 + 922 * 1024 + 1280 * 1024) = 6.870 MB at 0.9 TB/s.
  EXPECT_NEAR(time.memory.count(), 7.633e-6, 0.005e-6);
}

TEST(GemmTime, MixedPrecisionLeavesFp32OnVectorUnits) {
  const hw::Device device = v100();
  const Context context = context_for(device, pytorch(), Precision::Fp16, test_model());
  const Gemm gemm{.m = 4096, .n = 4096, .k = 4096};
  EXPECT_GT(gemm_time(gemm, DType::F32, true, context).total,
            4 * gemm_time(gemm, DType::F16, true, context).total);
}

TEST(GemmTime, Tf32LiesBetweenFp32AndFp16) {
  const hw::Device device = round_device();
  const Gemm gemm{.m = 4096, .n = 4096, .k = 4096};
  const Context fp32 = context_for(device, pytorch(), Precision::Fp32, test_model());
  const Context tf32 = context_for(device, pytorch(), Precision::Tf32, test_model());
  const Context fp16 = context_for(device, pytorch(), Precision::Fp16, test_model());
  EXPECT_LT(gemm_time(gemm, DType::F32, true, tf32).total,
            gemm_time(gemm, DType::F32, true, fp32).total);
  EXPECT_LT(gemm_time(gemm, DType::F16, true, fp16).total,
            gemm_time(gemm, DType::F32, true, tf32).total);
}

// One tile of 32 x 32 would leave 79 of 80 SMs idle; a sum of a million is split.
TEST(GemmVector, LongSumsAreSplit) {
  const hw::Device device = v100();
  const Context context = context_for(device, pytorch(), Precision::Fp32, test_model());
  const OpTime split = gemm_vector({.m = 32, .n = 32, .k = 1e6}, context);
  const OpTime batched = gemm_vector({.m = 32, .n = 32, .k = 1e6, .batched = true}, context);
  EXPECT_LT(10 * split.compute, batched.compute);
}

TEST(Gemm, NeverFasterForALargerProblem) {
  for (const Precision precision : {Precision::Fp32, Precision::Fp16}) {
    const hw::Device device = v100();
    const Context context = context_for(device, pytorch(), precision, test_model());
    const DType type = precision == Precision::Fp16 ? DType::F16 : DType::F32;
    for (int axis = 0; axis < 4; ++axis) {
      Seconds before{0};
      for (int size = 1; size < 3000; size += 7) {
        Gemm gemm{.batch = 2, .m = 300, .n = 200, .k = 500, .batched = axis == 3};
        double* const sizes[] = {&gemm.m, &gemm.n, &gemm.k, &gemm.batch};
        *sizes[axis] = size;
        const Seconds now = gemm_time(gemm, type, true, context).total;
        EXPECT_GE(now, before) << "axis " << axis << " size " << size;
        before = now;
      }
    }
  }
}

}  // namespace
}  // namespace foretrain::cost
