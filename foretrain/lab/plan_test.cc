// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/plan.h"

#include <gtest/gtest.h>

#include "foretrain/store/test_store.h"

namespace foretrain::lab {
namespace {

TEST(Obstacle, IsWhatTheMachineCannotGive) {
  const Setting plain{.name = "plain"};
  const Setting shaped{.name = "shaped", .bytes_per_s = 125e6};
  const Setting half{.name = "half", .cores = 0.5};
  for (const bool links : {false, true}) {
    for (const bool shares : {false, true}) {
      const Means means{links, shares};
      EXPECT_EQ(obstacle(plain, means), "");
      EXPECT_EQ(obstacle(shaped, means).empty(), links);
      EXPECT_EQ(obstacle(half, means).empty(), shares);
    }
  }
}

// Setting "a" has two configurations of two repeats, one of them with three as test, and a whole
// job: 2 + 3 + 1 runs. One repeat is in the store; that of another campaign and that which failed
// do not count.
TEST(Plan, CountsWhatIsThereBySetting) {
  const Campaign campaign = read_campaign(
      R"({"format": "foretrain-campaign", "version": 1, "name": "base",
          "settings": {"a": {}, "b": {"network": "1gbps"}}, "test": "n", "test_repeats": 3,
          "jobs": [{"models": "{m,n}", "batches": 1, "settings": "a"},
                   {"models": "m", "batches": 1, "samples": 8, "epochs": 1, "settings": "a"},
                   {"models": "m", "batches": 2, "settings": "b"}]})",
      "here");
  const store::TemporaryStore file;
  store::Store store = file.open();
  store.put_campaign({.name = "other", .definition = "{}"});
  store::RunRecord record = store::sample_record(1);
  record.run.configuration = campaign.configurations[0].text;
  store.append_run(record);
  record.run.campaign = "other";
  record.run.repeat = 0;
  store.append_run(record);
  record.run.campaign = "base";
  record.run.status = "failed";
  store.append_run(record);

  const std::vector<SettingPlan> plan = plan_of(campaign, &store, {});
  ASSERT_EQ(plan.size(), 2U);
  EXPECT_EQ(plan[0].configurations, 2U);
  EXPECT_EQ(plan[0].whole, 1U);
  EXPECT_EQ(plan[0].test, 1U);
  EXPECT_EQ(plan[0].runs, 6U);
  EXPECT_EQ(plan[0].found, 1U);
  EXPECT_EQ(plan[0].obstacle, "");
  EXPECT_EQ(plan[1].runs, 2U);
  EXPECT_NE(plan[1].obstacle, "");
  EXPECT_EQ(plan_of(campaign, nullptr, {})[0].found, 0U);
  EXPECT_EQ(models_of(campaign), (std::vector<std::string>{"m", "n"}));
}

}  // namespace
}  // namespace foretrain::lab
