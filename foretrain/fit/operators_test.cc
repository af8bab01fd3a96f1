// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/operators.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "foretrain/base/error.h"
#include "foretrain/evaluate/operator_clock.h"
#include "foretrain/hw/load_catalog.h"
#include "foretrain/knowledge/library.h"
#include "foretrain/measured/operator_file.h"

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

  FittedOperators fit(const cost::Constants& start) {
    return fit_operators(folder_, start, {}, catalog_, [](const FittedGroup&) {});
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

TEST_F(FitOperators, SaysThatThereAreNoRows) {
  EXPECT_THROW(fit(load_library().operators->constants), Error);
}

}  // namespace
}  // namespace foretrain::fit
