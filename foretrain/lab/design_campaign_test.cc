// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/design_campaign.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/lab/campaign.h"

namespace foretrain::lab {
namespace {

const DesignedJobs kJobs{
    .model = "mlp", .batch = 8, .samples = 1000, .optimizer = "sgd", .network = "1gbps"};

// 0.1 and 0.5 of 1,000 samples on one and on four workers.
TEST(DesignCampaign, IsWhatCollectReads) {
  const Campaign campaign = read_campaign(design_campaign(kJobs, {{1, 0.1}, {4, 0.5}}), "test");
  ASSERT_EQ(campaign.planned.size(), 2U);
  const Configuration& one = campaign.configurations[0];
  const Configuration& four = campaign.configurations[1];
  EXPECT_TRUE(one.whole());
  EXPECT_EQ(one.samples, 100);
  EXPECT_EQ(four.samples, 500);
  EXPECT_EQ(campaign.settings[static_cast<std::size_t>(one.setting)].workers, 1);
  EXPECT_EQ(campaign.settings[static_cast<std::size_t>(four.setting)].workers, 4);
  EXPECT_EQ(four.optimizer, "sgd");
  EXPECT_EQ(four.batch, 8);
  EXPECT_EQ(campaign.settings.front().network, "1gbps");
}

// Written as a number with an exponent it would be none that a campaign takes.
TEST(DesignCampaign, TakesRoundBatches) {
  DesignedJobs large = kJobs;
  large.batch = 100'000;
  large.samples = 1'000'000;
  const Campaign campaign = read_campaign(design_campaign(large, {{1, 0.5}}), "test");
  EXPECT_EQ(campaign.configurations.at(0).batch, 100'000);
  EXPECT_EQ(campaign.configurations.at(0).samples, 500'000);
}

TEST(DesignCampaign, RefusesRunsThatCannotBeMade) {
  EXPECT_THROW(design_campaign(kJobs, {{1.5, 0.1}}), Error);
  EXPECT_THROW(design_campaign(kJobs, {{16, 0.1}}), Error);  // 100 samples, 16 batches of 8
  EXPECT_THROW(design_campaign(kJobs, {{65, 1}}), Error);
  EXPECT_THROW(design_campaign(kJobs, {{1, 0.1}, {1, 0.1001}}), Error);  // 100 samples twice
  DesignedJobs several = kJobs;
  several.model = "resnet{18,34}";
  EXPECT_THROW(design_campaign(several, {{1, 0.1}}), Error);
  DesignedJobs unknown = kJobs;
  unknown.optimizer = "adagrad";
  EXPECT_THROW(design_campaign(unknown, {{1, 0.1}}), Error);
}

}  // namespace
}  // namespace foretrain::lab
