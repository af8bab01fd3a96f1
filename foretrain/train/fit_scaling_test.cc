// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/fit_scaling.h"

#include <gtest/gtest.h>

#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/train/conformal.h"

namespace foretrain::train {
namespace {

// An epoch takes 5 + 0.02 samples / workers + 2 log workers + 0.3 workers seconds.
double ernest_s(double samples, double workers) {
  return 5 + 0.02 * samples / workers + 2 * std::log(workers) + 0.3 * workers;
}

ScalingData made() {
  ScalingData data{.time = TimeOf::Epoch, .variables = {"samples", "workers"}};
  MeasuredWorkload workload{.name = "net", .shared = {.model = "resnet18"}};
  for (const double samples : {1000, 2000, 4000, 8000, 16000}) {
    for (const double workers : {1, 2, 3, 4, 6, 8, 12, 16}) {
      workload.rows.push_back({{samples, workers}, ernest_s(samples, workers)});
    }
  }
  data.workloads = {workload};
  return data;
}

const ScalingWorkload& only(const ScalingModel& model) { return model.workloads.front(); }

TEST(FitScaling, ErnestFindsItsOwnLawAndGoesOn) {
  ScalingFit options{.methods = {Method::Ernest}, .reach = 4, .threads = 1};
  const ScalingModel model = fit_scaling(made(), options);
  EXPECT_NEAR(time_s(only(model).form, std::vector<double>{64000, 64}), ernest_s(64000, 64), 0.01);
  EXPECT_EQ(only(model).domain[1].most, 64);    // four times 16
  EXPECT_EQ(only(model).domain[0].least, 250);  // a quarter of 1,000
  EXPECT_LT(only(model).error, 1e-4);
}

// An epoch: 10 ms of work per sample on a whole core, 30 ms of work per step wherever it runs, and
// from two workers on an exchange of 20 ms and 50 ms more by their logarithm.
double costs_s(double samples, double workers, double batch, double cores) {
  const double steps = samples / workers / batch;
  const double exchange = workers > 1 ? 0.02 + 0.05 * std::log(workers) : 0;
  return 0.01 * samples / workers / cores + steps * (0.03 + exchange);
}

TEST(FitScaling, CostsAreFoundByWhatTheyGrowWithAndGoOn) {
  ScalingData data{.time = TimeOf::Epoch, .variables = {"samples", "workers", "batch", "cores"}};
  MeasuredWorkload workload{.name = "net", .shared = {.model = "resnet18"}};
  for (const double samples : {1000, 2000, 3000}) {
    for (const double workers : {1, 2, 3}) {
      for (const double batch : {8, 16}) {
        for (const double cores : {0.5, 1.0}) {
          workload.rows.push_back(
              {{samples, workers, batch, cores}, costs_s(samples, workers, batch, cores)});
        }
      }
    }
  }
  data.workloads = {workload};
  const ScalingModel model = fit_scaling(data, {.methods = {Method::Costs}, .threads = 1});
  EXPECT_EQ(only(model).method, "costs");
  EXPECT_NEAR(time_s(only(model).form, std::vector<double>{9000, 12, 32, 2}),
              costs_s(9000, 12, 32, 2), 1e-6);
}

TEST(FitScaling, AutoChoosesAMethodByRunsLeftOut) {
  ScalingFit options{.methods = {Method::Tree, Method::Ernest, Method::Ridge}, .threads = 1};
  std::vector<FittedWorkload> found;
  const ScalingModel model =
      fit_scaling(made(), options, [&](const FittedWorkload& one) { found.push_back(one); });
  ASSERT_EQ(found.size(), 1U);
  ASSERT_EQ(found[0].methods.size(), 3U);
  EXPECT_EQ(found[0].methods[0].setting.method, Method::Ernest);
  EXPECT_EQ(only(model).method, "ernest");
  EXPECT_EQ(only(model).rows, 40U);
  EXPECT_EQ(only(model).domain[1].most, 16);
  ASSERT_TRUE(only(model).low);  // 40 rows: the second from each end
  EXPECT_EQ(write_scaling(model, {}), write_scaling(fit_scaling(made(), options), {}));
}

// The operator engine says half of the time everywhere: its logarithm plus log 2.
TEST(FitScaling, CorrectsTheOperatorEngine) {
  ScalingData data = made();
  data.with_operators = true;
  for (ScalingRow& row : data.workloads[0].rows) row.values.push_back(row.time_s / 2);
  const ScalingModel model = fit_scaling(data, {.methods = {Method::Ridge}, .threads = 1});
  EXPECT_TRUE(only(model).form.on_operators);
  EXPECT_NEAR(time_s(only(model).form, std::vector<double>{3000, 5, 7}), 14, 1e-6);
}

TEST(FitScaling, NeedsDifferentRuns) {
  ScalingData data = made();
  data.workloads[0].rows.resize(3);
  EXPECT_THROW(fit_scaling(data, {}), Error);
}

// Of 19 residuals at 90 %: 20 x 0.05 = 1, the ends are the least and the most; 18 are too few. Of
// 39 the second from each end.
TEST(FitScaling, ConformalEndsAreOrderStatistics) {
  std::vector<double> residuals;
  for (int i = 1; i <= 19; ++i) residuals.push_back(20 - i);
  EXPECT_EQ(conformal_ends(residuals, 0.9)->low, 1);
  EXPECT_EQ(conformal_ends(residuals, 0.9)->high, 19);
  EXPECT_FALSE(conformal_ends({residuals.begin(), residuals.end() - 1}, 0.9));
  for (int i = 20; i <= 39; ++i) residuals.push_back(i);
  EXPECT_EQ(conformal_ends(residuals, 0.9)->low, 2);
  EXPECT_EQ(conformal_ends(residuals, 0.9)->high, 38);
}

}  // namespace
}  // namespace foretrain::train
