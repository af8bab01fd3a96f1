// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/collectives.h"

#include <gtest/gtest.h>

#include <fstream>

#include "foretrain/base/error.h"
#include "foretrain/hw/load_catalog.h"
#include "foretrain/knowledge/library.h"
#include "foretrain/measured/import_measured.h"
#include "foretrain/store/exchange.h"
#include "foretrain/store/store.h"

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
  hw::Catalog catalog_ = hw::load_catalog();
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
  const FittedCollectives fitted = fit_collectives(folder_, start(), {}, catalog_);
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
  EXPECT_EQ(fit_collectives(folder_, start(), options, catalog_).cells, 2U);
  options.without = {"Vista"};
  const FittedCollectives fitted = fit_collectives(folder_, start(), options, catalog_);
  EXPECT_EQ(fitted.cells, 1U);
  ASSERT_EQ(fitted.left_out.size(), 2U);
  EXPECT_EQ(fitted.left_out[0].cell, "Vista, all-reduce, 2 x 1");
  EXPECT_EQ(fitted.left_out[1].rows, 1U);
  options.without = {"Vista", "Perlmutter"};
  EXPECT_THROW(fit_collectives(folder_, start(), options, catalog_), Error);
  options.without = {"Visto"};
  EXPECT_THROW(fit_collectives(folder_, start(), options, catalog_), Error);
}

// Rows of others, and rows that `collect collectives` timed, whose cluster is the machine and its
// link.
TEST_F(FitCollectives, ReadsAStoreAFolderAndAFileAlike) {
  write("Vista,x,allreduce,1,1000000,2,1,60\nPerlmutter,x,allgather_large,1,1000000,1,2,60\n");
  std::ofstream(folder_ / "mine.csv")
      << "machine,source,kind,backend,link,ranks,nodes,bytes,time_s,spread_s,repeats\n"
         "lab-1,collect,all_reduce,gloo,1gbps,2,2,1000000,0.02,,\n"
         "lab-1,collect,all_reduce,gloo,1gbps,2,2,4000000,0.07,,\n";
  const std::filesystem::path other = std::filesystem::path(folder_) += "_other";
  std::filesystem::create_directories(other);
  store::Store store(other / "my.db");
  measured::import_measured(store, {folder_ / "rows.csv", folder_ / "mine.csv"});
  store::export_folder(store, other / "out");
  CollectiveFit options;
  options.evaluations = 5;
  const FittedCollectives folder = fit_collectives(folder_, start(), options, catalog_);
  EXPECT_EQ(folder.rows, 4U);
  EXPECT_EQ(folder.cells, 3U);
  for (const char* name : {"my.db", "out"}) {
    const FittedCollectives fitted = fit_collectives(other / name, start(), options, catalog_);
    EXPECT_EQ(fitted.rows, 4U) << name;
    EXPECT_EQ(fitted.cells, 3U) << name;
    EXPECT_EQ(comm::write_constants(fitted.constants, {}),
              comm::write_constants(folder.constants, {}))
        << name;
  }
  EXPECT_EQ(fit_collectives(folder_ / "rows.csv", start(), options, catalog_).cells, 2U);
  options.without = {"lab-1, 1gbps"};
  EXPECT_EQ(fit_collectives(other / "my.db", start(), options, catalog_).cells, 2U);
  std::filesystem::remove_all(other);
}

}  // namespace
}  // namespace foretrain::fit
