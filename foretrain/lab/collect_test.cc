// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/collect.h"

#include <gtest/gtest.h>

#include "foretrain/base/json.h"
#include "foretrain/lab/detail/machine.h"
#include "foretrain/lab/test_worker.h"
#include "foretrain/store/test_store.h"

namespace foretrain::lab {
namespace {

// A worker whose steps in the n-th job of a campaign all take the n-th of `steps_s`; 0 fails.
std::string worker_with(const std::string& steps_s) {
  return "STEPS_S = [" + steps_s + R"(]
def answer(job):
    step_s = STEPS_S[job["job"] - 1]
    if step_s == 0:
        raise ValueError("no luck")
    return {"steps_s": [step_s] * 3, "exposed_s": [0.25 * (1 + 2 * job["rank"])] * 3, "start_s": 1,
            "end_s": 2, "compute_s": 0.5 + job["rank"], "parameters": 7, "peak_bytes": None,
            "moved_bytes": [1e6] * 50, "moved_start_s": 1}
)";
}

// Runs of two workers: each of `models` twice, at most three attempts each.
Campaign campaign_of(const std::string& models, const std::string& more_settings = "",
                     const std::string& settings = "\"base\"") {
  return read_campaign(R"({"format": "foretrain-campaign", "version": 1, "name": "toy",
      "settings": {"base": {})" +
                           more_settings + R"(}, "repeats": 2, "attempts": 3,
      "jobs": [{"models": ")" +
                           models + R"(", "batches": 1, "settings": [)" + settings + "]}]}",
                       "here");
}

class CollectTest : public testing::Test {
 protected:
  Summary collect_with(const Campaign& campaign, const FakeWorker& worker) {
    Hosts hosts(FakeWorker::hosts(2));
    CollectOptions options;
    options.workers = worker.options();
    options.on_note = [this](const std::string& text) { notes.push_back(text); };
    options.on_event = [this](const Event& event) { statuses.push_back(event.run->status); };
    store::Store store(file.path());
    return collect(campaign, store, options, hosts);
  }
  std::vector<store::Run> runs() const {
    return store::Store(file.path(), store::OpenMode::ReadOnly).runs();
  }

  store::TemporaryStore file;
  std::vector<std::string> notes;
  std::vector<std::string> statuses;
};

// Exposed are 0.25 s in worker 0 and 0.75 s in worker 1: 0.5 s on average. The slower one computes
// for 1.5 s. The machine is the workers', and of it nothing but times can be told.
TEST_F(CollectTest, StoresARunUnderTheMachineThatMadeIt) {
  const Summary summary = collect_with(campaign_of("mlp"), FakeWorker(worker_with("2, 2")));
  EXPECT_EQ(summary.measured, 2U);
  EXPECT_EQ(summary.missing + summary.left_out + summary.found, 0U);
  ASSERT_EQ(runs().size(), 2U);
  const store::Run run = runs()[0];
  EXPECT_EQ(run.machine, machine_id("fake", "toy"));
  EXPECT_NE(run.machine, describe_machine().id);
  EXPECT_EQ(run.step_median_s, 2);
  EXPECT_EQ(run.exposed_sync_s, 0.5);
  EXPECT_FALSE(run.foreign_load || run.calibration_before_s || run.calibration_after_s);
  const Json details = parse_json(run.details);
  EXPECT_EQ(details["compute_s"], 1.5);
  EXPECT_EQ(details["hosts"], Json::array({run.machine, run.machine}));
  const store::Store store(file.path(), store::OpenMode::ReadOnly);
  EXPECT_TRUE(store.run(run.id).metrics.empty());
  ASSERT_EQ(store.machines().size(), 1U);
  EXPECT_EQ(store.machines()[0].cores, 3);
  EXPECT_EQ(store.machines()[0].pytorch, "2.x");
}

TEST_F(CollectTest, DoesNotRunAgainWhatIsThere) {
  collect_with(campaign_of("mlp"), FakeWorker(worker_with("2, 2")));
  const Summary summary = collect_with(campaign_of("mlp"), FakeWorker(worker_with("0")));
  EXPECT_EQ(summary.found, 2U);
  EXPECT_EQ(summary.measured + summary.missing, 0U);
  EXPECT_EQ(runs().size(), 2U);
}

// The third job is the second attempt at the second repeat.
TEST_F(CollectTest, TriesAnOutlierAgain) {
  const Summary summary = collect_with(campaign_of("mlp"), FakeWorker(worker_with("2, 3, 2.1")));
  EXPECT_EQ(summary.measured, 2U);
  EXPECT_EQ(statuses, (std::vector<std::string>{"ok", "outlier", "ok"}));
}

TEST_F(CollectTest, KeepsWhatStaysAnOutlier) {
  const Summary summary = collect_with(campaign_of("mlp"), FakeWorker(worker_with("2, 3, 3, 3")));
  EXPECT_EQ(summary.measured, 2U);
  EXPECT_EQ(statuses, (std::vector<std::string>{"ok", "outlier", "outlier", "ok"}));
  EXPECT_EQ(runs().back().message, "steps take 1.500000 times as long as in other repeats");
}

// The first repeat of the first model fails three times; the other three runs are made.
TEST_F(CollectTest, GoesOnAfterWhatFails) {
  const Summary summary =
      collect_with(campaign_of("{mlp,lstm-lm}"), FakeWorker(worker_with("0, 0, 0, 2, 2, 2")));
  EXPECT_EQ(summary.missing, 1U);
  EXPECT_EQ(summary.measured, 3U);
  EXPECT_NE(runs()[0].message.find("no luck"), std::string::npos);
}

// A machine that takes ten times as long is compared with itself alone.
TEST_F(CollectTest, GoesOnOnAMachineOfAnotherSpeed) {
  Campaign first = campaign_of("mlp");
  first.planned.resize(1);
  collect_with(first, FakeWorker(worker_with("2"), "fast"));
  const Summary summary = collect_with(campaign_of("mlp"), FakeWorker(worker_with("20"), "slow"));
  EXPECT_EQ(summary.found, 1U);
  EXPECT_EQ(summary.measured, 1U);
  EXPECT_EQ(statuses, (std::vector<std::string>{"ok", "ok"}));
  EXPECT_NE(runs()[0].machine, runs()[1].machine);
}

// Two runs each; shaped links and shares of a core cannot be had on hosts that are used as they
// are.
TEST_F(CollectTest, LeavesOutSettingsThatCannotBeHad) {
  const Campaign campaign =
      campaign_of("mlp", R"(, "fast": {"network": "1gbps"}, "half": {"cores": 0.5})",
                  R"("base", "fast", "half")");
  const Summary summary = collect_with(campaign, FakeWorker(worker_with("2, 2")));
  EXPECT_EQ(summary.total, 6U);
  EXPECT_EQ(summary.measured, 2U);
  EXPECT_EQ(summary.left_out, 4U);
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_NE(notes[0].find("'fast' is left out: a link"), std::string::npos) << notes[0];
  EXPECT_NE(notes[1].find("'half' is left out: a share"), std::string::npos) << notes[1];
  EXPECT_EQ(runs().size(), 2U);
}

}  // namespace
}  // namespace foretrain::lab
