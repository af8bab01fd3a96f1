// SPDX-License-Identifier: Apache-2.0
#include "foretrain/knowledge/calibration.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "foretrain/base/error.h"
#include "foretrain/predict/predict.h"

namespace foretrain {
namespace {

const Calibration kTwice{"t4", 2, 2, 2, 2};

TEST(Calibration, IsTheSameAfterAFile) {
  const Calibration written{"v100-sxm2-16gb", 0.9, 1.1, 0.75, 1.5, 0.5, 900};
  const Calibration read = read_calibration(write_calibration(written, {}), "file");
  EXPECT_EQ(read.device, written.device);
  EXPECT_EQ(read.compute, written.compute);
  EXPECT_EQ(read.memory, written.memory);
  EXPECT_EQ(read.host, written.host);
  EXPECT_EQ(read.network, written.network);
  EXPECT_EQ(read.input, written.input);
  EXPECT_EQ(read.input_rate, written.input_rate);
}

TEST(Calibration, RefusesWhatNoMachineIs) {
  Calibration absurd = kTwice;
  absurd.host = 1e6;
  EXPECT_THROW(read_calibration(write_calibration(absurd, {}), "file"), Error);
  EXPECT_THROW(read_calibration("{}", "file"), Error);
  EXPECT_THROW(read_calibration(R"({"format": "other"})", "file"), Error);
}

// Everything twice as fast but the launch of kernels: a large GEMM takes almost half the time.
TEST(Calibration, ScalesADeviceAndNoOther) {
  const std::string path =
      (std::filesystem::temp_directory_path() / "foretrain_calibration.json").string();
  std::ofstream(path) << write_calibration(kTwice, {});
  const Library library = load_library();
  const auto step = [&](const std::string& device, const std::string& predictors) {
    return predict(parse_request(R"({"model": "vgg16", "batch": 64, "device": ")" + device +
                                     R"(", "predictors": [)" + predictors + "]}",
                                 "test"),
                   library)
        .step_time_s.value;
  };
  const std::string file = "\"" + path + "\"";
  EXPECT_NEAR(step("t4", file), step("t4", "") / 2, 0.01 * step("t4", ""));
  EXPECT_EQ(step("v100-sxm2-16gb", file), step("v100-sxm2-16gb", ""));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace foretrain
