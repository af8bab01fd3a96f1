// SPDX-License-Identifier: Apache-2.0
#include "foretrain/predict/detail/targets.h"

#include <gtest/gtest.h>

#include "foretrain/base/json.h"
#include "foretrain/predict/predict.h"
#include "foretrain/resource/kinds.h"

namespace foretrain {
namespace {

void set(Report& report, std::string_view name, const Estimate& estimate) {
  for (const TargetName& target : target_names()) {
    if (target.name == name) return target.set(report, target.which, estimate);
  }
  FAIL() << name;
}

// The step, the peak of memory, every number of every resource, the memory used by each role.
TEST(Targets, AreEveryNumberThatAnEngineCanTell) {
  EXPECT_EQ(target_names().size(), 2 + resource::use_names().size() + resource::kRoles.size());
  for (const TargetName& target : target_names()) {
    EXPECT_TRUE(target.name.starts_with(target.group)) << target.name;
  }
}

TEST(Targets, OfAResourceMakeItAlternate) {
  Report report;
  set(report, "resources.worker.gpu_util.burst_amount", {90, 80, 95, 0.9});
  set(report, "resources.worker.gpu_util.idle_amount", {5, {}, {}, {}});
  set(report, "resources.worker.gpu_util.burst_s", {0.5, {}, {}, {}});
  set(report, "resources.worker.gpu_util.idle_s", {0.25, {}, {}, {}});
  set(report, "resources.worker.gpu_util.burst_share", {0.75, {}, {}, {}});
  ASSERT_TRUE(report.resources.worker.gpu_util);
  const resource::Bursts& bursts = report.resources.worker.gpu_util->bursts;
  EXPECT_EQ(bursts.pattern, resource::Pattern::BIB);
  EXPECT_EQ(bursts.burst_amount, 90);
  EXPECT_EQ(bursts.idle_amount, 5);
  EXPECT_EQ(bursts.burst, Seconds{0.5});
  EXPECT_EQ(bursts.idle, Seconds{0.25});
  EXPECT_EQ(bursts.burst_share, 0.75);
  EXPECT_EQ(std::string(report.resources.worker.gpu_util->unit), "%");
  EXPECT_FALSE(report.resources.worker.net_tx);
  EXPECT_FALSE(report.resources.server);
}

TEST(Targets, OfAServerMakeOneWhereThereIsNone) {
  Report report;
  set(report, "resources.server.net_rx.burst_amount", {1e6, 5e5, 2e6, 0.9});
  ASSERT_TRUE(report.resources.server);
  ASSERT_TRUE(report.resources.server->net_rx);
  EXPECT_EQ(std::string(report.resources.server->net_rx->unit), "B/s");
}

// A level that is all burst stays one; where nothing was said of a role it is an idle.
TEST(Targets, OfTheMemoryUsedReplaceItsLevel) {
  Report report;
  report.resources.worker.memory_used = ResourceReport{.bursts = {}, .unit = "B"};
  report.resources.worker.memory_used->bursts.pattern = resource::Pattern::B;
  set(report, "resources.worker.memory_used", {4e8, 3e8, 5e8, 0.9});
  set(report, "resources.server.memory_used", {2e8, {}, {}, {}});
  EXPECT_EQ(report.resources.worker.memory_used->bursts.burst_amount, 4e8);
  EXPECT_FALSE(report.resources.worker.memory_used->bursts.idle_amount);
  ASSERT_TRUE(report.resources.server && report.resources.server->memory_used);
  EXPECT_EQ(report.resources.server->memory_used->bursts.idle_amount, 2e8);
}

// A step twice as long keeps the shares of its parts.
TEST(Targets, OfTheStepScaleItsParts) {
  Report report;
  report.step_time_s.value = 2;
  report.breakdown.compute = Seconds{1.5};
  report.breakdown.host = Seconds{0.5};
  set(report, "step_time_s", {4, 3, 5, 0.9});
  EXPECT_EQ(report.step_time_s.value, 4);
  EXPECT_EQ(report.breakdown.compute, Seconds{3});
  EXPECT_EQ(report.breakdown.host, Seconds{1});
}

// Of the two numbers one has an interval.
TEST(Targets, IntervalsStandBesideTheirNumbers) {
  Report report =
      predict(parse_request(R"({"model": "mlp", "device": "t4"})", "test"), load_library());
  set(report, "resources.worker.net_tx.burst_s", {0.5, 0.25, 0.75, 0.8});
  set(report, "resources.worker.net_tx.idle_s", {0.5, {}, {}, {}});
  const Json json = parse_json(to_json(report), "report");
  const Json& intervals = json.at("resources").at("worker").at("net_tx").at("intervals");
  EXPECT_EQ(json_text(intervals), R"({"burst_s":[0.25,0.75],"confidence":0.8})");
  EXPECT_FALSE(json.at("resources").at("worker").at("net_rx").contains("intervals"));
}

}  // namespace
}  // namespace foretrain
