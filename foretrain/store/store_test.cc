// SPDX-License-Identifier: Apache-2.0
#include "foretrain/store/store.h"

#include <gtest/gtest.h>

#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/store/test_store.h"

namespace foretrain::store {
namespace {

TEST(Store, KeepsARunWithItsMetricsStepsAndSamples) {
  const TemporaryStore file;
  {
    Store store = file.open();
    EXPECT_EQ(store.append_run(sample_record(0)), 1);
  }
  const Store store(file.path(), OpenMode::ReadOnly);
  const RunRecord record = store.run(1);
  EXPECT_EQ(record.run.configuration, R"({"batch":32,"model":"resnet18"})");
  EXPECT_EQ(record.run.step_median_s, 0.25);
  EXPECT_FALSE(record.run.exposed_sync_s);
  ASSERT_EQ(record.metrics.size(), 1U);
  EXPECT_EQ(record.metrics[0].resource, "gpu_util");
  EXPECT_EQ(record.metrics[0].burst_amount, 97.5);
  EXPECT_FALSE(record.metrics[0].idle_sd_s);
  EXPECT_EQ(record.step_times_s, (std::vector<double>{0.25, 0.5}));  // exact as 32-bit floats
  ASSERT_EQ(record.samples.size(), 1U);
  EXPECT_EQ(record.samples[0].resource, "gpu_util");
  EXPECT_EQ(record.samples[0].window_s, 0.01);
  EXPECT_EQ(record.samples[0].values, (std::vector<double>{64, 32, 0.125}));  // quantum 1/16
}

TEST(Store, HasOnlyWhatSucceeded) {
  const TemporaryStore file;
  Store store = file.open();
  RunRecord record = sample_record(0);
  record.run.status = "failed";
  store.append_run(record);
  store.append_run(record);  // failures may repeat
  EXPECT_FALSE(store.has("base", record.run.configuration, 0));
  store.append_run(sample_record(0));
  EXPECT_TRUE(store.has("base", record.run.configuration, 0));
  EXPECT_FALSE(store.has("base", record.run.configuration, 1));
  EXPECT_FALSE(store.has("other", record.run.configuration, 0));
  EXPECT_EQ(store.runs({.status = "failed"}).size(), 2U);
  EXPECT_EQ(store.runs().size(), 3U);
}

TEST(Store, RefusesASecondSuccessOfOneConfigurationAndRepeat) {
  const TemporaryStore file;
  Store store = file.open();
  store.append_run(sample_record(0));
  EXPECT_THROW(store.append_run(sample_record(0)), Error);
  EXPECT_EQ(store.count("metrics"), 1);
}

// The second metric has the key of the first: the run that came before it in the same call goes
// too.
TEST(Store, WritesARunWhollyOrNotAtAll) {
  const TemporaryStore file;
  Store store = file.open();
  RunRecord record = sample_record(0);
  record.metrics.push_back(record.metrics.front());
  EXPECT_THROW(store.append_run(record), Error);
  EXPECT_EQ(store.count("runs"), 0);
  EXPECT_EQ(store.count("metrics"), 0);
}

TEST(Store, RefusesWhatRefersToNothing) {
  const TemporaryStore file;
  Store store = file.open();
  RunRecord record = sample_record(0);
  record.run.machine = "unknown";
  EXPECT_THROW(store.append_run(record), Error);
  record = sample_record(0);
  record.run.configuration = R"({"model": "resnet18"})";  // a space: not canonical
  EXPECT_THROW(store.append_run(record), Error);
  record = sample_record(0);
  record.run.request = R"({"model": "resnet18"})";
  EXPECT_THROW(store.append_run(record), Error);
}

// 1e300 s would be infinite as a 32-bit float, and an export with it could not be read back.
TEST(Store, RefusesStepsThatItCannotKeep) {
  const TemporaryStore file;
  Store store = file.open();
  for (const double time_s : {1e300, -5.0, std::nan("")}) {
    RunRecord record = sample_record(0);
    record.step_times_s.push_back(time_s);
    EXPECT_THROW(store.append_run(record), Error) << time_s;
  }
  EXPECT_EQ(store.count("runs"), 0);
}

TEST(Store, TakesTextAsTextNotAsSql) {
  const TemporaryStore file;
  Store store = file.open();
  const std::string evil = "x'); DROP TABLE runs; --";
  store.put_machine({.id = evil});
  EXPECT_EQ(store.machines().back().id, evil);
  EXPECT_EQ(store.runs({.campaign = evil}).size(), 0U);
  EXPECT_EQ(store.count("runs"), 0);
  EXPECT_THROW(store.count("runs; DROP TABLE runs"), Error);
}

TEST(Store, PuttingAgainReplaces) {
  const TemporaryStore file;
  Store store = file.open();
  store.append_run(sample_record(0));
  store.put_machine({.id = "here", .cpu = "newer", .cores = 4});
  ASSERT_EQ(store.machines().size(), 1U);
  EXPECT_EQ(store.machines()[0].cpu, "newer");
  EXPECT_EQ(store.machines()[0].cores, 4);
  store.put_machine({.id = "here", .cores = 8});  // says nothing of the processor
  EXPECT_EQ(store.machines()[0].cpu, "newer");
  EXPECT_EQ(store.machines()[0].cores, 8);
}

// The second row differs in its numbers alone, the third in its direction.
TEST(Store, PuttingAnOperatorAgainReplacesItsNumbers) {
  const TemporaryStore file;
  Store store = file.open();
  Operator one{.machine = "here", .kind = "linear", .direction = "forward", .time_s = 0.5};
  store.put_operators(std::vector{one});
  one.time_s = 0.25;
  one.spread_s = 0.125;
  Operator other = one;
  other.direction = "backward";
  store.put_operators(std::vector{one, other});
  ASSERT_EQ(store.operators().size(), 2U);
  EXPECT_EQ(store.operators()[0].time_s, 0.25);
  EXPECT_EQ(store.operators()[0].spread_s, 0.125);
  Collective sum{.machine = "here", .kind = "all_reduce", .ranks = 2, .bytes = 1024, .time_s = 1};
  store.put_collectives(std::vector{sum});
  sum.time_s = 2;
  store.put_collectives(std::vector{sum});
  ASSERT_EQ(store.collectives().size(), 1U);
  EXPECT_EQ(store.collectives()[0].time_s, 2);
}

TEST(CanonicalJson, IsOneTextForOneConfiguration) {
  EXPECT_EQ(canonical_json(R"({ "b": [1.0, 2.5], "a": {"y": null, "x": 1e3} })"),
            R"({"a":{"x":1000,"y":null},"b":[1,2.5]})");
  EXPECT_THROW(canonical_json("{"), Error);
}

}  // namespace
}  // namespace foretrain::store
