// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/operators.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "foretrain/base/error.h"
#include "foretrain/evaluate/operator_clock.h"
#include "foretrain/hw/load_catalog.h"
#include "foretrain/knowledge/library.h"
#include "foretrain/measured/import_measured.h"
#include "foretrain/measured/operator_file.h"
#include "foretrain/store/exchange.h"
#include "foretrain/store/store.h"

namespace foretrain::fit {
namespace {

class FitOperators : public ::testing::Test {
 protected:
  FitOperators() { std::filesystem::create_directories(folder_); }
  ~FitOperators() override { std::filesystem::remove_all(folder_); }

  // GEMMs on a V100, timed by `truth` itself.
  void write_products(const cost::Constants& truth) {
    const std::string head = "split,vendor,device,op,B,M,N,K,latency_ms\n";
    std::string rows;
    for (const int m : {512, 700, 1500, 3000}) {
      for (const int n : {600, 1024, 5000}) {
        for (const int k : {512, 2048, 4000}) {
          rows += "train,nvidia,v100-sxm2-16gb,bmm,4," + std::to_string(m) + "," +
                  std::to_string(k) + "," + std::to_string(n) + ",1\n";
        }
      }
    }
    std::ofstream(file_) << head << rows;
    const cost::OperatorModel model = cost::make_operator_model(truth);
    evaluate::OperatorClock clock(catalog_, model);
    std::ofstream timed(file_.string() + ".new");
    timed << head;
    std::size_t at = 0;
    for (const auto& one : measured::read_operators(file_)) {
      const std::size_t end = rows.find('\n', at);
      timed << rows.substr(at, end - at - 1) << clock.time_s(*one) * 1e3 << "\n";
      at = end + 1;
    }
    timed.close();
    std::filesystem::rename(file_.string() + ".new", file_);
  }

  FittedOperators fit(const cost::Constants& start) { return fit(folder_, start, {}); }

  FittedOperators fit(const std::filesystem::path& data, const cost::Constants& start,
                      const OperatorFit& options) {
    return fit_operators(data, start, options, catalog_, [](const FittedGroup&) {});
  }

  // The file as a folder, as a file of another name, as a store and as the store's export: what is
  // fitted, as it is written, and how many rows decided it.
  void expect_alike(std::size_t rows) {
    const std::filesystem::path other = std::filesystem::path(folder_) += "_other";
    std::filesystem::create_directories(other);
    std::filesystem::copy(file_, other / "mine.csv");
    store::Store store(other / "my.db");
    measured::import_measured(store, {file_});
    store::export_folder(store, other / "out");
    const cost::Constants start = load_library().operators->constants;
    OperatorFit quick;
    quick.evaluations = 5;
    const std::string folder = cost::write_constants(fit(folder_, start, quick).constants, {});
    for (const char* name : {"mine.csv", "my.db", "out"}) {
      const FittedOperators fitted = fit(other / name, start, quick);
      ASSERT_EQ(fitted.groups.size(), 1U) << name;
      EXPECT_EQ(fitted.groups[0].rows, rows) << name;
      EXPECT_EQ(cost::write_constants(fitted.constants, {}), folder) << name;
    }
    std::filesystem::remove_all(other);
  }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / "foretrain_fit_test";
  std::filesystem::path file_ = folder_ / "neusight_gemm.csv";
  hw::Catalog catalog_ = hw::load_catalog();
};

TEST_F(FitOperators, ComesNearerToConstantsThatMadeTheRows) {
  const cost::Constants start = load_library().operators->constants;
  cost::Constants truth = start;
  truth.gemm.reread = 1;
  truth.gemm.exponent = 1.1;
  write_products(truth);
  const FittedOperators fitted = fit(start);
  ASSERT_EQ(fitted.groups.size(), 1U);
  EXPECT_GT(fitted.groups[0].rows, 20U);  // the smallest GEMMs say little
  EXPECT_LT(fitted.groups[0].after, 0.9 * fitted.groups[0].before);
  EXPECT_LT(fitted.constants.gemm.exponent, start.gemm.exponent);
  EXPECT_EQ(fitted.constants.host.conv, start.host.conv);  // no rows speak of it
}

TEST_F(FitOperators, GivesTheSameTwice) {
  const cost::Constants start = load_library().operators->constants;
  cost::Constants truth = start;
  truth.gemm.reread = 0.9;
  write_products(truth);
  EXPECT_EQ(cost::write_constants(fit(start).constants, {}),
            cost::write_constants(fit(start).constants, {}));
}

TEST_F(FitOperators, ReadsAStoreAFolderAndAFileAlike) {
  cost::Constants truth = load_library().operators->constants;
  truth.gemm.reread = 0.9;
  write_products(truth);
  expect_alike(fit(truth).groups[0].rows);
}

// Two of the three rows were timed on a core; the GPU's says nothing of it.
TEST_F(FitOperators, ReadsCollectedOperatorsOfTheCpuAlike) {
  std::ofstream(file_) << "machine,source,split,kind,shapes,attributes,dtype,direction,time_s,"
                          "spread_s,repeats\n"
                          "lab-1,collect,,relu,512x512,{},f32,forward,0.0002,,\n"
                          "lab-1,collect,,relu,2048x2048,{},f32,forward,0.004,,\n"
                          "lab-1@NVIDIA A100-SXM4-80GB,collect,,relu,512x512,{},f32,forward,"
                          "0.00001,,\n";
  expect_alike(2);
}

TEST_F(FitOperators, SaysThatThereAreNoRows) {
  EXPECT_THROW(fit(load_library().operators->constants), Error);
}

}  // namespace
}  // namespace foretrain::fit
