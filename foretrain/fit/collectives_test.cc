// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/collectives.h"

#include <gtest/gtest.h>

#include <fstream>

#include "foretrain/base/error.h"
#include "foretrain/knowledge/library.h"

namespace foretrain::fit {
namespace {

class FitCollectives : public ::testing::Test {
 protected:
  FitCollectives() { std::filesystem::create_directories(folder_); }
  ~FitCollectives() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& rows) {
    std::ofstream(folder_ / "rows.csv")
        << "cluster,gpu,collective,elements,bytes,nodes,gpus_per_node,dur_us\n"
        << rows;
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / "foretrain_fit_collectives_test";
};

comm::Constants start() {
  comm::Constants constants;
  constants.links = load_library().collectives->links;
  constants.nvlink = {.efficiency = 0.8, .latency_s = 1e-6, .ramp_s = 1e-9, .chain = 1};
  constants.rdma = {.efficiency = 0.9, .latency_s = 5e-6, .ramp_s = 1e-9, .ramp_growth = 0.1};
  constants.launch_s = 1e-9;
  constants.least_share = 0.1;
  constants.copy_s_per_byte = 1e-15;
  return constants;
}

// All-reduces between two nodes of 50 GB/s that take 2 * 20 us + V / 40 GB/s: 0.8 of the rate.
TEST_F(FitCollectives, FindsRateAndLatency) {
  std::string rows;
  for (double bytes = 1e4; bytes < 2e10; bytes *= 4) {
    rows += "Vista,x,allreduce,1," + std::to_string(bytes) + ",2,1," +
            std::to_string(40 + bytes / 40e3) + "\n";
  }
  write(rows);
  const FittedCollectives fitted = fit_collectives(folder_, start(), {});
  EXPECT_EQ(fitted.cells, 1U);
  EXPECT_NEAR(fitted.constants.rdma.efficiency, 0.8, 0.02);
  EXPECT_NEAR(fitted.constants.rdma.latency_s, 20e-6, 2e-6);
  EXPECT_NEAR(fitted.constants.nvlink.efficiency, 0.8, 0.01);  // nothing says otherwise
  EXPECT_LT(fitted.after, 0.05);
  EXPECT_GT(fitted.before, fitted.after);
}

TEST_F(FitCollectives, LeavesClustersOutAndSaysWhatIsMissing) {
  write("Vista,x,allreduce,1,1000000,2,1,60\nPerlmutter,x,allreduce,1,1000000,1,2,60\n");
  CollectiveFit options;
  options.evaluations = 50;
  EXPECT_EQ(fit_collectives(folder_, start(), options).cells, 2U);
  options.without = {"Vista"};
  const FittedCollectives fitted = fit_collectives(folder_, start(), options);
  EXPECT_EQ(fitted.cells, 1U);
  ASSERT_EQ(fitted.left_out.size(), 2U);
  EXPECT_EQ(fitted.left_out[0].cell, "Vista, all-reduce, 2 x 1");
  EXPECT_EQ(fitted.left_out[1].rows, 1U);
  options.without = {"Vista", "Perlmutter"};
  EXPECT_THROW(fit_collectives(folder_, start(), options), Error);
  options.without = {"Visto"};
  EXPECT_THROW(fit_collectives(folder_, start(), options), Error);
}

}  // namespace
}  // namespace foretrain::fit
