// SPDX-License-Identifier: Apache-2.0
// Every measurement here is invented.
#include "foretrain/measured/resource_runs.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/measured/test_files.h"
#include "foretrain/store/exchange.h"
#include "foretrain/store/store.h"

namespace foretrain::measured {
namespace {

const std::string kRuns =
    "id,campaign,machine,configuration,setting,split,repeat,started,status,message,"
    "calibration_before_s,calibration_after_s,foreign_load,wall_s,steps,step_mean_s,step_median_s,"
    "step_sd_s,exposed_sync_s,details,request\n";
const std::string kMetrics =
    "run,role,instance,resource,unit,pattern,burst_amount,idle_amount,burst_s,idle_s,"
    "burst_amount_sd,idle_amount_sd,burst_sd_s,idle_sd_s,burst_share\n";
const std::string kCampaigns = "name,created,definition\nlab,2026-01-01T00:00:00Z,{}\n";
const std::string kMachines =
    "id,cpu,cores,memory_bytes,kernel,system,pytorch,details\nbox,cpu,2,1000000,k,s,2,{}\n";

std::string run(int id, const std::string& setting, int repeat, const std::string& status,
                const std::string& wall, const std::string& step) {
  return std::to_string(id) +
         R"(,lab,box,"{""batch"":4,""cores"":1,""model"":""mlp"",""network"":""1gbps"",)"
         R"(""optimizer"":""sgd"",""strategy"":{""kind"":""ddp""},""workers"":2}",)" +
         setting + ",train," + std::to_string(repeat) + ",2026-01-01T00:00:00Z," + status +
         ",,,,," + wall + ",10," + step + "," + step + ",0.001,,{},\n";
}

// A recording: `numbers` are burst and idle amount, burst and idle duration.
std::string metric(int run, const std::string& instance, const std::string& resource,
                   const std::string& pattern, const std::string& numbers,
                   const std::string& share) {
  return std::to_string(run) + ",worker," + instance + "," + resource + ",%," + pattern + "," +
         numbers + ",,,,," + share + "\n";
}

struct Folder {
  TestFolder files;
  explicit Folder(const std::string& runs, const std::string& metrics) {
    files.write("campaigns.csv", kCampaigns);
    files.write("machines.csv", kMachines);
    files.write("runs.csv", kRuns + runs);
    files.write("metrics.csv", kMetrics + metrics);
  }
  std::vector<ResourceJob> jobs() const { return resource_jobs(files.path()); }
  std::string refusal() const {
    try {
      jobs();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::BadInput);
      return error.what();
    }
    return "";
  }
};

const resource::UseName& use_named(std::string_view name) {
  for (const resource::UseName& use : resource::use_names()) {
    if (use.name == name) return use;
  }
  throw Error(ErrorKind::NotFound, std::string(name));
}

std::optional<double> number(const RunUse& run, std::string_view name) {
  return number_of(run, use_named(name));
}

// Two processes, median their mean: bursts of 0.2 s and 0.4 s make 0.3 s, and so on.
TEST(ResourceRuns, AreMediansOverProcesses) {
  const Folder folder(run(1, "base", 0, "ok", "", "0.5"),
                      metric(1, "0", "gpu_util", "BIB", "90,10,0.2,0.1", "0.6") +
                          metric(1, "1", "gpu_util", "BIB", "80,20,0.4,0.3", "0.8") +
                          metric(1, "0", "memory_used", "B", "3000,,,", "1") +
                          metric(1, "1", "memory_used", "I", ",5000,,", "0"));
  const std::vector<ResourceJob> jobs = folder.jobs();
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].model, "mlp");
  EXPECT_EQ(jobs[0].setting, "base");
  EXPECT_EQ(jobs[0].split, "train");
  EXPECT_EQ(jobs[0].median.step_time_s, 0.5);
  const RunUse& median = jobs[0].median;
  EXPECT_DOUBLE_EQ(number(median, "worker.gpu_util.burst_amount").value(), 85);
  EXPECT_DOUBLE_EQ(number(median, "worker.gpu_util.idle_amount").value(), 15);
  EXPECT_DOUBLE_EQ(number(median, "worker.gpu_util.burst_s").value(), 0.3);
  EXPECT_DOUBLE_EQ(number(median, "worker.gpu_util.idle_s").value(), 0.2);
  EXPECT_DOUBLE_EQ(number(median, "worker.gpu_util.burst_share").value(), 0.7);
  EXPECT_DOUBLE_EQ(median.roles[0]->memory_used.value(), 4000);
  EXPECT_FALSE(number(median, "worker.net_tx.burst_s"));  // not measured
  EXPECT_FALSE(median.roles[1]);                          // no server
}

// Bursts of 0.2, 0.9 and 0.4 s; steps of 1, 3 and 2 s.
TEST(ResourceRuns, AreMediansOverRepeats) {
  std::string runs;
  std::string metrics;
  const std::vector<std::string> bursts{"0.2", "0.9", "0.4"};
  const std::vector<std::string> steps{"1", "3", "2"};
  for (int i = 0; i < 3; ++i) {
    const auto place = static_cast<std::size_t>(i);
    runs += run(i + 1, "base", i, "ok", "", steps[place]);
    metrics += metric(i + 1, "0", "net_tx", "BIB", "90,10," + bursts[place] + ",0.1", "0.6");
  }
  runs += run(4, "other", 0, "ok", "", "7");
  metrics += metric(4, "0", "net_tx", "BIB", "50,10,5,0.1", "0.5");
  const std::vector<ResourceJob> jobs = Folder(runs, metrics).jobs();
  ASSERT_EQ(jobs.size(), 2U);  // settings are not mixed
  EXPECT_EQ(jobs[0].repeats.size(), 3U);
  EXPECT_EQ(jobs[0].median.step_time_s, 2);
  EXPECT_DOUBLE_EQ(number(jobs[0].median, "worker.net_tx.burst_s").value(), 0.4);
  EXPECT_DOUBLE_EQ(number(jobs[0].repeats[1], "worker.net_tx.burst_s").value(), 0.9);
  EXPECT_DOUBLE_EQ(number(jobs[1].median, "worker.net_tx.burst_s").value(), 5);
}

// Two of three alternate: their numbers count, 0.2 and 0.4 s; shares are of all, median 0.5.
TEST(ResourceRuns, TheMoreFrequentKindOfRecordingSpeaks) {
  const auto repeats = [](const std::vector<std::string>& kinds) {
    std::string runs;
    std::string metrics;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const int id = static_cast<int>(i) + 1;
      runs += run(id, "base", id, "ok", "", "1");
      metrics += kinds[i];
    }
    return Folder(runs, metrics).jobs().at(0).median;
  };
  const RunUse mostly = repeats({metric(1, "0", "net_rx", "BIB", "90,10,0.2,0.1", "0.5"),
                                 metric(2, "0", "net_rx", "I", ",3,,", "0"),
                                 metric(3, "0", "net_rx", "BIB", "70,10,0.4,0.3", "0.7")});
  EXPECT_DOUBLE_EQ(number(mostly, "worker.net_rx.burst_amount").value(), 80);
  EXPECT_DOUBLE_EQ(number(mostly, "worker.net_rx.burst_s").value(), 0.3);
  EXPECT_DOUBLE_EQ(number(mostly, "worker.net_rx.burst_share").value(), 0.5);
  const RunUse seldom = repeats({metric(1, "0", "net_rx", "BIB", "90,10,0.2,0.1", "0.5"),
                                 metric(2, "0", "net_rx", "I", ",3,,", "0"),
                                 metric(3, "0", "net_rx", "I", ",5,,", "0")});
  EXPECT_FALSE(number(seldom, "worker.net_rx.burst_amount"));
  EXPECT_FALSE(number(seldom, "worker.net_rx.burst_s"));
  const auto& use = seldom.roles[0]->of[index_of(resource::Resource::Receive)];
  EXPECT_DOUBLE_EQ(use->amount.value(), 4);  // the level of the two
  EXPECT_FALSE(use->burst_s);
  EXPECT_DOUBLE_EQ(use->alternating, 1.0 / 3);
}

// Bursts without a complete idle have no durations to compare.
TEST(ResourceRuns, OneSwitchIsNoAlternation) {
  const RunUse median = Folder(run(1, "base", 0, "ok", "", "1"),
                               metric(1, "0", "gpu_util", "BIB", "90,10,0.2,", "0.5"))
                            .jobs()
                            .at(0)
                            .median;
  EXPECT_FALSE(number(median, "worker.gpu_util.burst_amount"));
}

// Ten runs, whose fixed work took 0.1 s, then ten with 0.3 s: usual are 0.2 s, so the first was at
// twice and the last at 2 / 3 of the usual speed. A burst of 0.4 s would have been one of 0.8 and
// of 0.2667 s, a step of 1 s one of 0.5^-0.7 = 1.6245 and of 1.5^-0.7 = 0.7529 s; idles are the
// network's.
TEST(ResourceRuns, AreBroughtToTheUsualSpeedOfTheMachine) {
  std::string runs;
  std::string metrics;
  for (int i = 1; i <= 20; ++i) {
    std::string line = run(i, "s" + std::to_string(i), 0, "ok", "", "1");
    const std::string empty = ",ok,,,,,";
    const std::string work = i <= 10 ? "0.1" : "0.3";
    runs += line.replace(line.find(empty), empty.size(), ",ok,," + work + "," + work + ",,");
    metrics += metric(i, "0", "gpu_util", "BIB", "90,10,0.4,0.1", "0.5");
  }
  const std::vector<ResourceJob> jobs = Folder(runs, metrics).jobs();
  ASSERT_EQ(jobs.size(), 20U);
  EXPECT_NEAR(*number(jobs.front().median, "worker.gpu_util.burst_s"), 0.8, 1e-9);
  EXPECT_NEAR(*number(jobs.back().median, "worker.gpu_util.burst_s"), 0.4 / 1.5, 1e-9);
  EXPECT_NEAR(*number(jobs.back().median, "worker.gpu_util.idle_s"), 0.1, 1e-9);
  EXPECT_NEAR(*number(jobs.back().median, "worker.gpu_util.burst_amount"), 90, 1e-9);
  EXPECT_NEAR(jobs.front().median.step_time_s, 1.6245, 1e-4);
  EXPECT_NEAR(jobs.back().median.step_time_s, 0.7529, 1e-4);
}

TEST(ResourceRuns, WholeJobsBadRunsAndRunsWithoutMetricsAreLeftOut) {
  const std::string bib = "BIB";
  const std::vector<ResourceJob> jobs =
      Folder(run(1, "whole", 0, "ok", "31.5", "1") + run(2, "bad", 0, "failed", "", "1") +
                 run(3, "silent", 0, "ok", "", "1") + run(4, "good", 0, "ok", "", "1"),
             metric(1, "0", "gpu_util", bib, "90,10,0.2,0.1", "0.5") +
                 metric(2, "0", "gpu_util", bib, "90,10,0.2,0.1", "0.5") +
                 metric(4, "0", "gpu_util", bib, "90,10,0.2,0.1", "0.5"))
          .jobs();
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].setting, "good");
}

TEST(ResourceRuns, ABadNumberIsNamedWithItsLine) {
  const std::string good = metric(1, "0", "gpu_util", "BIB", "90,10,0.2,0.1", "0.5");
  const std::string runs = run(1, "base", 0, "ok", "", "1");
  for (const char* bad : {"x", "-1", "nan", "1e999", "0.2s"}) {
    const std::string line =
        metric(1, "1", "gpu_util", "BIB", std::string("90,10,") + bad + ",0.1", "0.5");
    const std::string refusal = Folder(runs, good + line).refusal();
    EXPECT_NE(refusal.find("metrics.csv"), std::string::npos) << refusal;
    EXPECT_NE(refusal.find("line 3"), std::string::npos) << refusal;
    EXPECT_NE(refusal.find("burst_s"), std::string::npos) << refusal;
  }
  std::string role = good;
  role.replace(role.find("worker"), 6, "driver");
  EXPECT_NE(Folder(runs, role).refusal().find("line 2: role"), std::string::npos);
  const std::string step = Folder(run(1, "base", 0, "ok", "", "soon"), good).refusal();
  EXPECT_NE(step.find("line 2: step_median_s"), std::string::npos) << step;
}

TEST(ResourceRuns, SayWhatIsMissing) {
  const TestFolder empty;
  EXPECT_THROW(resource_jobs(empty.path()), Error);
  EXPECT_THROW(resource_jobs(empty.path() / "none"), Error);
  empty.write("runs.csv", kRuns + run(1, "base", 0, "ok", "", "1"));
  try {
    resource_jobs(empty.path());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::NotFound);
    EXPECT_NE(std::string(error.what()).find("metrics.csv"), std::string::npos);
  }
  EXPECT_THROW(resource_jobs(empty.path() / "runs.csv"), Error);  // no store
  EXPECT_NE(Folder(run(1, "base", 0, "ok", "", "1"), "").refusal().find("foretrain collect"),
            std::string::npos);
}

bool same(const RunUse& a, const RunUse& b) {
  for (const resource::UseName& use : resource::use_names()) {
    if (number_of(a, use) != number_of(b, use)) return false;
  }
  return a.step_time_s == b.step_time_s && a.roles[0]->memory_used == b.roles[0]->memory_used;
}

TEST(ResourceRuns, AStoreAndItsExportAreReadAlike) {
  const Folder folder(run(1, "base", 0, "ok", "", "0.5") + run(2, "base", 1, "ok", "", "0.75"),
                      metric(1, "0", "gpu_util", "BIB", "90,10,0.2,0.1", "0.6") +
                          metric(1, "0", "memory_used", "B", "3000,,,", "1") +
                          metric(2, "0", "gpu_util", "BIB", "80,20,0.4,0.3", "0.8"));
  const std::filesystem::path file = folder.files.path() / "lab.db";
  {
    store::Store store(file);
    store::import_paths(store, {folder.files.path()});
  }
  const std::vector<ResourceJob> read = folder.jobs();
  const std::vector<ResourceJob> stored = resource_jobs(file);
  ASSERT_EQ(read.size(), 1U);
  ASSERT_EQ(stored.size(), 1U);
  EXPECT_EQ(stored[0].model, read[0].model);
  EXPECT_EQ(stored[0].request, read[0].request);
  EXPECT_EQ(stored[0].repeats.size(), 2U);
  EXPECT_TRUE(same(stored[0].median, read[0].median));
}

}  // namespace
}  // namespace foretrain::measured
