// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/steps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "foretrain/base/error.h"
#include "foretrain/fit/detail/search.h"
#include "foretrain/fit/detail/step_clock.h"

namespace foretrain::fit {
namespace {

constexpr const char* kColumns =
    "source,framework,model,task_dataset,gpu,gpus,nodes,gpus_per_node,interconnect,precision,"
    "batch_per_gpu,global_batch,metric,value,unit,parallelism,notes\n";
constexpr const char* kMapping = R"({
  "rules": [{"request": {"model": "{model}", "device": "{gpu}", "batch": "{batch_per_gpu}"},
             "compare": {"number": "step_time_s", "scale": 1}}]})";

class FitSteps : public ::testing::Test {
 protected:
  FitSteps() { std::filesystem::create_directories(folder_); }
  ~FitSteps() override { std::filesystem::remove_all(folder_); }

  // Steps on two devices in machines whose hosts are twice and half as fast, timed by `truth`.
  void write_steps(const cost::Constants& truth) {
    const cost::OperatorModel model = cost::make_operator_model(truth);
    std::ofstream(folder_ / "made.json") << kMapping;
    std::ofstream file(file_);
    file << kColumns;
    for (const std::string name : {"shufflenet_v2_x0_5", "resnet18", "squeezenet1_1"}) {
      for (const std::string device : {"a100-sxm4-40gb", "v100-sxm2-16gb"}) {
        evaluate::Case row;
        row.model = name;
        row.device = device;
        row.request = R"({"model": ")" + name + R"(", "device": ")" + device + R"(", "batch": 2})";
        const auto one = make_step_case(row, library_);
        const double time = step_time(*one, model, {device[0] == 'a' ? 2 : 0.5, 1}).count();
        file << "s,pytorch," << name << ",d," << device << ",1,1,1,pcie,fp32,2,2,step_time," << time
             << ",s,none,\n";
      }
    }
  }

  FittedSteps fit(cost::Constants& constants, std::vector<std::string> without = {}) {
    return fit_steps(file_, {std::move(without), 200}, library_, constants);
  }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / "foretrain_steps_test";
  std::filesystem::path file_ = folder_ / "made.csv";
  Library library_ = load_library();
};

// Steps of two images are bound by the host alone: they show how much slower one host is.
TEST_F(FitSteps, FindsTheHostsOfItsMachines) {
  cost::Constants constants = library_.operators->constants;
  write_steps(constants);
  const FittedSteps fitted = fit(constants);
  EXPECT_EQ(fitted.group.rows, 6U);
  EXPECT_LT(fitted.group.after, 0.3 * fitted.group.before);
  const double fast = fitted.machines.at("a100-sxm4-40gb").host;
  const double slow = fitted.machines.at("v100-sxm2-16gb").host;
  EXPECT_NEAR(fast / slow, 4, 1);
  EXPECT_NEAR(fast * slow, 1, 1e-9);  // their mean is the reference
}

TEST_F(FitSteps, LeavesDevicesAndModelsOut) {
  cost::Constants constants = library_.operators->constants;
  write_steps(constants);
  const FittedSteps fitted = fit(constants, {"v100*", "resnet18"});
  EXPECT_EQ(fitted.group.rows, 2U);
  EXPECT_EQ(fitted.machines.size(), 1U);
  EXPECT_THROW(fit(constants, {"v100*", "a100*"}), Error);
}

TEST(NamedBy, KnowsNamesAndBeginnings) {
  EXPECT_TRUE(named_by("resnet18", "resnet18"));
  EXPECT_FALSE(named_by("resnet18", "resnet1"));
  EXPECT_TRUE(named_by("resnet18", "resnet*"));
  EXPECT_FALSE(named_by("resnext50_32x4d", "resnet*"));
  EXPECT_TRUE(named_by("conv.tiles.2", "conv."));
}

}  // namespace
}  // namespace foretrain::fit
