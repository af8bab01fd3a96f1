// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/operator_factors.h"

#include <gtest/gtest.h>

#include "foretrain/evaluate/operator_clock.h"
#include "foretrain/hw/load_catalog.h"
#include "foretrain/knowledge/library.h"
#include "foretrain/measured/collected_operators.h"

namespace foretrain::fit {
namespace {

// GEMMs and memory-bound operators whose times are what the model says of a device that `truth`
// describes.
measured::OperatorCases timed_by(const Calibration& truth, const std::string& device,
                                 const cost::OperatorModel& model, const hw::Catalog& catalog) {
  const std::vector<std::string> columns{"kind", "shapes", "attributes", "direction", "time_s"};
  measured::OperatorCases cases;
  for (const int n : {64, 512, 4096}) {
    const std::string size = std::to_string(n);
    for (const auto& [kind, shapes] :
         {std::pair{"linear", size + "x4096;4096x4096"}, {"relu", size + "x16384"}}) {
      cases.push_back(
          measured::collected_case({&columns, {kind, shapes, "{}", "forward", "1"}, 1}, "row"));
      cases.back()->device = device;
    }
  }
  evaluate::OperatorClock clock(catalog, model, {&truth, 1});
  for (const auto& one : cases) one->measured_s = clock.time_s(*one);
  return cases;
}

// GEMMs tell the arithmetic, memory-bound operators the bandwidth; the prior draws both a little
// towards 1.
TEST(OperatorFactors, FindsAGpusSpeed) {
  const hw::Catalog catalog = hw::load_catalog();
  const cost::OperatorModel model = *load_library().operators;
  const hw::Device t4 = hw::find_device(catalog, "t4", nullptr);
  const auto cases = timed_by({"t4", 1.5, 0.7}, "t4", model, catalog);
  const OperatorFactors found = factors_by_operators(cases, t4, model, catalog);
  EXPECT_EQ(found.calibration.device, "t4");
  EXPECT_NEAR(found.calibration.compute, 1.5, 0.03);
  EXPECT_NEAR(found.calibration.memory, 0.7, 0.014);
  EXPECT_EQ(found.calibration.host, 1);  // kernels do not tell
  EXPECT_GT(found.before, 0.3);          // about ln 1.5 and ln(1 / 0.7)
  EXPECT_LT(found.after, 0.02);
}

TEST(OperatorFactors, OfACpuCallsAreTold) {
  const hw::Catalog catalog = hw::load_catalog();
  const cost::OperatorModel model = *load_library().operators;
  const hw::Device cpu = hw::find_device(catalog, "cpu:cores=2", nullptr);
  const auto cases = timed_by({"cpu", 2, 0.5}, cpu.name, model, catalog);
  const OperatorFactors found = factors_by_operators(cases, cpu, model, catalog);
  EXPECT_EQ(found.calibration.device, "cpu");
  EXPECT_NEAR(found.calibration.compute, 2, 0.1);
  EXPECT_NEAR(found.calibration.memory, 0.5, 0.03);
}

}  // namespace
}  // namespace foretrain::fit
