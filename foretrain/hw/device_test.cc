// SPDX-License-Identifier: Apache-2.0
#include "foretrain/hw/device.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"

namespace foretrain::hw {
namespace {

constexpr const char* kToy =
    R"({"name": "toy", "fp32_flops_per_s": 1e12, "memory_bytes": 8e9, "memory_bytes_per_s": 1e11})";

// The toy with one more field, or another value of one.
std::string toy_with(const std::string& field) {
  const std::string toy = kToy;
  return toy.substr(0, toy.size() - 1) + ", " + field + "}";
}

std::string complaint(std::string_view text) {
  try {
    parse_device(text, "file toy.json", nullptr);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(MatrixPeak, UsesTensorCoresWhereThereAreSome) {
  const Device volta{.fp32_flops_per_s = 15.7e12,
                     .fp64_flops_per_s = 7.8e12,
                     .fp16_flops_per_s = 31.4e12,
                     .tensor_fp16_flops_per_s = 125e12};
  EXPECT_EQ(matrix_peak(volta, Precision::Fp32), 15.7e12);
  EXPECT_EQ(matrix_peak(volta, Precision::Fp16), 125e12);
  EXPECT_EQ(matrix_peak(volta, Precision::Fp64), 7.8e12);
  EXPECT_EQ(matrix_peak(volta, Precision::Tf32), std::nullopt);
  EXPECT_EQ(matrix_peak(volta, Precision::Bf16), std::nullopt);
  EXPECT_EQ(matrix_peak(volta, Precision::Fp8), std::nullopt);
}

TEST(MatrixPeak, OfHalfPrecisionWithoutTensorCoresIsTheFasterVectorRate) {
  EXPECT_EQ(matrix_peak({.fp32_flops_per_s = 10e12, .fp16_flops_per_s = 20e12}, Precision::Fp16),
            20e12);
  EXPECT_EQ(matrix_peak({.fp32_flops_per_s = 12e12, .fp16_flops_per_s = 0.2e12}, Precision::Fp16),
            12e12);
  EXPECT_EQ(matrix_peak({.fp32_flops_per_s = 5e12}, Precision::Fp16), 5e12);
}

TEST(MatrixPeak, CountsMatrixCoresThatTakeFp32AndFp64) {
  const Device device{.fp32_flops_per_s = 22.6e12,
                      .fp64_flops_per_s = 22.6e12,
                      .tensor_fp32_flops_per_s = 45.3e12,
                      .tensor_fp64_flops_per_s = 45.3e12};
  EXPECT_EQ(matrix_peak(device, Precision::Fp32), 45.3e12);
  EXPECT_EQ(matrix_peak(device, Precision::Fp64), 45.3e12);
}

// 16 GiB less a sixteenth.
TEST(UsableMemory, LeavesOutErrorCorrection) {
  EXPECT_EQ(usable_memory_bytes({.memory_bytes = 16.0 * (1 << 30), .ecc_bytes = 1 << 30}),
            15.0 * (1 << 30));
  EXPECT_EQ(usable_memory_bytes({.memory_bytes = 8e9}), 8e9);
}

TEST(ParseDevice, NeedsFourFieldsAndStatesTheRest) {
  std::vector<std::string> assumptions;
  const Device device = parse_device(kToy, "file toy.json", &assumptions);
  EXPECT_EQ(device.name, "toy");
  EXPECT_EQ(device.fp32_flops_per_s, 1e12);
  EXPECT_EQ(device.memory_bytes, 8e9);
  EXPECT_EQ(device.memory_bytes_per_s, 1e11);
  EXPECT_EQ(device.fp64_flops_per_s, std::nullopt);
  ASSERT_EQ(assumptions.size(), 1U);
  for (const char* part : {"architecture ampere", "memory type gddr6", "128 fp32 cores per SM",
                           "no limit by power", "process 8nm", "pcie4-x16"}) {
    EXPECT_TRUE(contains(assumptions[0], part)) << part;
  }
}

// 1e12 / (2 x 128 x 1.6 GHz) = 2.4; with the clock given as 1 GHz, 3.9.
TEST(ParseDevice, DerivesTheNumberOfSmsFromThePeak) {
  EXPECT_EQ(parse_device(kToy, "", nullptr).sms, 2);
  EXPECT_EQ(parse_device(toy_with(R"("boost_clock_hz": 1e9)"), "", nullptr).sms, 4);
  EXPECT_EQ(parse_device(toy_with(R"("sms": 7)"), "", nullptr).sms, 7);
}

TEST(ParseDevice, AssumesPowerThatDoesNotLimit) {
  // 40 W per TFLOP/s of fp32; 4 W per TFLOP/s of tensor cores.
  EXPECT_DOUBLE_EQ(parse_device(kToy, "", nullptr).tdp_w, 40);
  const std::string tensor = toy_with(R"("tensor_fp16_flops_per_s": 100e12)");
  EXPECT_DOUBLE_EQ(parse_device(tensor, "", nullptr).tdp_w, 400);
}

TEST(ParseDevice, TakesValuesWithSources) {
  const Device device = parse_device(
      toy_with(
          R"("tdp_w": {"value": 70, "source": "sheet"}, "sources": {"sheet": "toy datasheet"})"),
      "file toy.json", nullptr);
  EXPECT_EQ(device.tdp_w, 70);
}

TEST(ParseDevice, TreatsVendorCpuAsAHost) {
  const Device device = parse_device(toy_with(R"("vendor": "cpu")"), "", nullptr);
  EXPECT_TRUE(is_cpu(device));
  EXPECT_EQ(device.architecture, "x86");
  EXPECT_EQ(device.intra_node, "shared-memory");
}

TEST(ParseDevice, RefusesWhatNoDeviceHas) {
  EXPECT_TRUE(contains(complaint(toy_with(R"("tdp_w": 0)")), "'tdp_w' is 0, outside"));
  EXPECT_TRUE(contains(complaint(toy_with(R"("tensor_fp16_flops_per_s": 1e19)")), "outside"));
  EXPECT_TRUE(contains(complaint(toy_with(R"("sms": 2.5)")), "whole number"));
  EXPECT_TRUE(contains(complaint(toy_with(R"("sms": 1e300)")), "outside"));
  EXPECT_TRUE(contains(complaint(toy_with(R"("memory_type": 5)")), "must be text"));
  EXPECT_TRUE(contains(complaint(toy_with(R"("memory_type": "")")), "characters"));
  EXPECT_TRUE(contains(complaint(toy_with(R"("ecc_bytes": 7e9)")), "outside"));
  EXPECT_TRUE(contains(complaint(toy_with(R"("pcie_peer_access": 1)")), "true or false"));
  EXPECT_TRUE(contains(complaint(toy_with(R"("tdp_w": {"values": 1})")), "must be a value"));
  EXPECT_TRUE(contains(complaint(toy_with(R"("tdp_w": [1])")), "must be a value"));
  EXPECT_TRUE(contains(complaint(toy_with(R"("aliases": "x")")), "list of names"));
  EXPECT_TRUE(contains(complaint(R"({"name": "toy"})"), "'fp32_flops_per_s' is missing"));
  EXPECT_TRUE(contains(complaint("{}"), "'name' is missing"));
  EXPECT_TRUE(contains(complaint("[]"), "object"));
  EXPECT_TRUE(contains(complaint("{"), "toy.json"));
}

TEST(ParseDevice, NamesTheFileAndTheNearestKnownField) {
  const std::string message = complaint(toy_with(R"("fp16_flops": 1e12)"));
  EXPECT_TRUE(contains(message, "file toy.json"));
  EXPECT_TRUE(contains(message, "fp16_flops_per_s"));
}

}  // namespace
}  // namespace foretrain::hw
