// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/cpu_operators.h"

#include <gtest/gtest.h>

#include <fstream>

#include "foretrain/evaluate/operator_clock.h"
#include "foretrain/hw/load_catalog.h"
#include "foretrain/knowledge/library.h"

namespace foretrain::fit {
namespace {

// Rows whose times are what the model says on a machine that `truth` describes.
class FitCpu : public ::testing::Test {
 protected:
  ~FitCpu() override { std::filesystem::remove(path_); }

  measured::OperatorCases timed_by(const cost::Constants& constants, const Calibration& machine) {
    std::string rows = "machine,kind,shapes,attributes,direction,time_s\n";
    for (const int n : {1, 8, 64, 512, 2048, 3000}) {
      const std::string size = std::to_string(n);
      rows += "lab-1,relu," + size + "x1000,{},forward,1\n";
      rows += "lab-1,relu," + size + ",{},forward,1\n";
      rows += "lab-1,linear," + size + "x1024;2048x1024,{},forward,1\n";
      rows += "lab-1,gelu," + size + "x1000,{},forward,1\n";
      rows += "lab-1,gelu," + size + "x1000,{},backward,1\n";
    }
    std::ofstream(path_) << rows;
    measured::OperatorCases cases = measured::read_operators(path_);
    const cost::OperatorModel model = cost::make_operator_model(constants);
    evaluate::OperatorClock clock(catalog_, model, {&machine, 1});
    for (const auto& one : cases) one->measured_s = clock.time_s(*one);
    return cases;
  }

  hw::Catalog catalog_ = hw::load_catalog();
  std::filesystem::path path_ = std::filesystem::temp_directory_path() / "foretrain_fit_cpu.csv";
};

TEST_F(FitCpu, FindsTheMachine) {
  const cost::Constants constants = load_library().operators->constants;
  const Calibration truth{"cpu", 2, 3, 0.5, 1, {}};
  const Calibration found = machine_of(timed_by(constants, truth), constants, catalog_);
  EXPECT_EQ(found.device, "cpu");
  EXPECT_NEAR(found.compute, 2, 0.2);  // nearly the best GEMM is not quite at its best
  EXPECT_NEAR(found.memory, 3, 0.5);
  EXPECT_NEAR(found.host, 0.5, 0.05);
}

TEST_F(FitCpu, FindsWhatAFunctionCosts) {
  const cost::Constants start = load_library().operators->constants;
  cost::Constants truth = start;
  truth.cpu.function[1] /= 3;
  const measured::OperatorCases cases = timed_by(truth, {"cpu", 1, 1, 1, 1, {}});
  cost::Constants fitted = start;
  for (const FittedGroup& group : fit_cpu(cases, {}, catalog_, fitted)) {
    if (group.name != "CPU functions") continue;
    EXPECT_GT(group.before, 0.2);
    EXPECT_LT(group.after, 0.05);
  }
  EXPECT_NEAR(fitted.cpu.function[1] / truth.cpu.function[1], 1, 0.3);
  EXPECT_EQ(fitted.cpu.gemm[1], start.cpu.gemm[1]);
  EXPECT_EQ(fitted.cpu.conv, start.cpu.conv);  // no rows speak of it
}

}  // namespace
}  // namespace foretrain::fit
