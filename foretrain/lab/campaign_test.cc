// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/campaign.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"

namespace foretrain::lab {
namespace {

std::string file(const std::string& settings, const std::string& rest) {
  return R"({"format": "foretrain-campaign", "version": 1, "name": "toy", "settings": )" +
         settings + ", " + rest + "}";
}

const std::string kSettings = R"({"base": {"network": "1gbps"}})";

std::string message_of(const std::string& text) {
  try {
    read_campaign(text, "file 'c.json'");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Braces, StandForRangesAndChoices) {
  EXPECT_EQ(expand_braces("mlp"), (std::vector<std::string>{"mlp"}));
  EXPECT_EQ(expand_braces("a{1..3}"), (std::vector<std::string>{"a1", "a2", "a3"}));
  EXPECT_EQ(expand_braces("{a,b}{1,4..5}"),
            (std::vector<std::string>{"a1", "a4", "a5", "b1", "b4", "b5"}));
}

TEST(Braces, RefuseWhatIsNoRange) {
  for (const char* text :
       {"a{1..", "a}", "{3..1}", "{1..x}", "{0..99999999999}", "{1..999}{1..999}", "{{a,b}}"}) {
    EXPECT_THROW(expand_braces(text), Error) << text;
  }
  const std::string most = "9223372036854775807";
  EXPECT_EQ(expand_braces("{" + most + ".." + most + "}"), (std::vector<std::string>{most}));
}

// Each pair stands for one text, so that only their number and length are too much.
TEST(Braces, AreBounded) {
  std::string pairs;
  for (int i = 0; i < 16; ++i) pairs += "{a}";
  EXPECT_EQ(expand_braces(pairs), (std::vector<std::string>{std::string(16, 'a')}));
  EXPECT_THROW(expand_braces(pairs + "{a}"), Error);
  EXPECT_THROW(expand_braces(std::string(1000, 'a') + "{1..99999}"), Error);
}

// Two models, two batches: four configurations. The test model has three repeats, the other two:
// 2 x 3 + 2 x 2 = 10 runs; and one whole job, which runs once.
TEST(Campaign, MakesProductsAndRepeats) {
  const Campaign campaign =
      read_campaign(file(kSettings, R"("repeats": 2, "test_repeats": 3, "test": ["b"], "jobs": [
        {"models": "{a,b}", "batches": [1, 2], "settings": "base"},
        {"models": "a", "batches": 1, "settings": "base", "samples": 8, "epochs": 3}])"),
                    "here");
  ASSERT_EQ(campaign.configurations.size(), 5U);
  EXPECT_EQ(campaign.planned.size(), 11U);
  EXPECT_EQ(campaign.configurations[0].split, "train");
  EXPECT_EQ(campaign.configurations[3].split, "test");
  EXPECT_EQ(campaign.configurations[3].batch, 2);
  EXPECT_TRUE(campaign.configurations[4].whole());
  EXPECT_EQ(campaign.planned.back().configuration, 4);  // whole jobs come last
  // 1 Gb/s is 125 MB/s.
  EXPECT_DOUBLE_EQ(campaign.settings[0].bytes_per_s, 125e6);
}

TEST(Campaign, KeepsOnlyTheSettingsThatAreAskedFor) {
  Campaign campaign = read_campaign(
      file(R"({"one": {}, "two": {"workers": 3}})",
           R"("repeats": 3, "jobs": [{"models": "m", "batches": 1, "settings": ["one", "two"]}])"),
      "here");
  keep_settings(campaign, {"two"});
  ASSERT_EQ(campaign.planned.size(), 3U);
  EXPECT_EQ(campaign.planned[0].configuration, 1);
  EXPECT_THROW(keep_settings(campaign, {"tow"}), Error);
}

// Between two repeats of a configuration lie all the others.
TEST(Campaign, SeparatesRepeatsInTime) {
  const Campaign campaign = read_campaign(
      file(kSettings, R"("jobs": [{"models": "m{1..5}", "batches": 1, "settings": "base"}])"),
      "here");
  ASSERT_EQ(campaign.planned.size(), 10U);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(campaign.planned[static_cast<std::size_t>(i)].configuration, i);
    EXPECT_EQ(campaign.planned[static_cast<std::size_t>(i)].repeat, 0);
    EXPECT_EQ(campaign.planned[static_cast<std::size_t>(i + 5)].configuration, i);
    EXPECT_EQ(campaign.planned[static_cast<std::size_t>(i + 5)].repeat, 1);
  }
}

// The key holds what decides the result, in one order, so that a store finds it again.
TEST(Campaign, NamesAConfigurationByItsContent) {
  const Campaign campaign = read_campaign(
      file(R"({"s": {"workers": 3, "cores": 0.5, "strategy": {"kind": "ps", "servers": 2}}})",
           R"("jobs": [{"models": "m", "batches": 4, "settings": "s"}])"),
      "here");
  EXPECT_EQ(campaign.configurations[0].text,
            R"({"batch":4,"cores":0.5,"model":"m","optimizer":"momentum",)"
            R"("strategy":{"asynchronous":false,"kind":"ps","servers":2},"workers":3})");
}

TEST(Campaign, SaysWhatIsWrong) {
  const std::string jobs = R"("jobs": [{"models": "m", "batches": 4, "settings": "base"}])";
  EXPECT_EQ(message_of(file(kSettings, jobs)), "");
  const auto says = [](const std::string& text, const std::string& part) {
    EXPECT_NE(message_of(text).find(part), std::string::npos) << message_of(text);
  };
  says(file(kSettings, R"("jobs": [{"models": "m", "batches": 4, "settings": "bas"}])"),
       "did you mean 'base'");
  says(file(kSettings, R"("jobs": [{"models": "m", "batches": 0, "settings": "base"}])"),
       "'batches'");
  says(file(kSettings, jobs + R"(, "tests": ["m"])"), "tests");
  says(file(kSettings, jobs + R"(, "test": ["n"])"), "which no job has");
  says(file(kSettings, R"("jobs": [{"models": "m", "batches": [4, 4], "settings": "base"}])"),
       "twice");
  says(file(kSettings,
            R"("jobs": [{"models": "m", "batches": 4, "settings": "base", "epochs": 2}])"),
       "'samples' and 'epochs'");
  says(file(kSettings,
            R"("jobs": [{"models": "m", "batches": 4, "optimizers": "sdg", "settings": "base"}])"),
       "did you mean 'sgd'");
  says(file(R"({"base": {"network": "fast"}})", jobs), "1gbps");
  says(file(R"({"base": {"cores": 3}})", jobs), "'cores'");
  says(file(R"({"base": {"strategy": {"kind": "ring"}}})", jobs), "ddp or ps");
  const std::string hosts = R"(, "hosts": [{"command": "ssh", "address": "a", "interface": "e"},
                                           {"command": "ssh", "address": "b", "interface": "e"}])";
  says(file(R"({"base": {"network": "1gbps"}})", jobs + hosts), "remote hosts");
  says(file(R"({"base": {"cores": 0.5}})", jobs + hosts), "remote hosts");
  EXPECT_EQ(message_of(file(R"({"base": {}})", jobs + hosts)), "");
  says(file(R"({"base": {"workers": 3}})", jobs + hosts), "needs 3 hosts");
  says(file(kSettings, jobs + R"(, "hosts": [{"command": [], "address": "a", "interface": "e"}])"),
       "'command'");
  says(file(kSettings, R"("jobs": [])"), "'jobs'");
  for (const char* empty : {R"("models": [])", R"("models": "")", R"("models": "{a,}")"}) {
    says(file(kSettings,
              std::string(R"("jobs": [{)") + empty + R"(, "batches": 4, "settings": "base"}])"),
         "'models'");
  }
  says(file(kSettings, R"("jobs": [{"models": "m", "batches": [], "settings": "base"}])"),
       "'batches'");
  says(R"({"format": "foretrain-campaign", "version": 1, "name": "", "settings": {"base": {}}, )" +
           jobs + "}",
       "'name'");
  says("{}", "format");
  says("{", "file 'c.json'");
}

}  // namespace
}  // namespace foretrain::lab
