// SPDX-License-Identifier: Apache-2.0
// Nothing here runs a job: a lab may be at work on this machine.
#include <gtest/gtest.h>

#include "foretrain/base/json.h"
#include "foretrain/cli/test_program.h"
#include "foretrain/lab/campaign.h"
#include "foretrain/store/test_store.h"

namespace foretrain::cli {
namespace {

std::string campaign(const std::string& jobs, const std::string& settings = R"({"b": {}})",
                     const std::string& more = "") {
  return R"({"format": "foretrain-campaign", "version": 1, "name": "x", "settings": )" + settings +
         more + R"(, "jobs": )" + jobs + "}";
}

std::string job(const std::string& models, const std::string& settings = "\"b\"") {
  return R"([{"models": )" + models + R"(, "batches": 1, "settings": )" + settings + "}]";
}

Outcome dry_run(const std::string& text, std::vector<std::string> more = {"--store", "none.db"}) {
  const TemporaryFile file("campaign.json", text);
  more.insert(more.begin(), {"collect", file.path(), "--dry-run"});
  return run_program(more);
}

void expect_refused(const Outcome& outcome, const std::string& part) {
  EXPECT_EQ(outcome.code, 2) << outcome.out;
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
}

// Two repeats of one model.
TEST(CollectDryRun, CountsWhatWouldRun) {
  const Outcome outcome = dry_run(campaign(job("\"mlp\"")));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "b: 1 configurations, 0 whole jobs, 0 of them test; 0 of 2 runs are there\n"
            "2 runs in all: 0 are there, 2 would run, 0 are left out\n");
}

TEST(CollectDryRun, CountsWhatTheStoreHas) {
  const std::string text = campaign(job("\"mlp\""));
  const store::TemporaryStore file;
  {
    store::Store store = file.open();
    store.put_campaign({.name = "x", .definition = "{}"});
    store::RunRecord record = store::sample_record(1);
    record.run.campaign = "x";
    record.run.configuration = lab::read_campaign(text, "here").configurations[0].text;
    store.append_run(record);
  }
  const Outcome outcome = dry_run(text, {"--store", file.path(), "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const Json json = parse_json(outcome.out);
  EXPECT_EQ(json["total"], 2);
  EXPECT_EQ(json["found"], 1);
  EXPECT_EQ(json["left_out"], 0);
  EXPECT_EQ(json["settings"][0]["name"], "b");
  EXPECT_EQ(json["settings"][0]["found"], 1);
}

TEST(CollectDryRun, SaysWhatPlainProcessesCannotHave) {
  const std::string text =
      campaign(job("\"mlp\"", R"(["b", "fast"])"), R"({"b": {}, "fast": {"network": "1gbps"}})");
  const Outcome outcome = dry_run(text, {"--store", "none.db", "--plain"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("left out: a link can be shaped only in namespaces"),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("4 runs in all: 0 are there, 2 would run, 2 are left out"),
            std::string::npos)
      << outcome.out;
}

TEST(CollectDryRun, RefusesMistakesBeforeAnythingRuns) {
  expect_refused(dry_run(campaign(job("\"resnet500\""))), "resnet50");
  expect_refused(dry_run(campaign(job("\"\""))), "empty");
  expect_refused(dry_run(campaign(job("[]"))), "empty");
  expect_refused(dry_run(campaign("[]")), "'jobs'");
  for (const char* cores : {"nan", "-3", "inf"}) {
    expect_refused(dry_run(campaign(job("\"mlp\"")), {"--foreign-cores", cores}),
                   "--foreign-cores");
  }
}

TEST(CollectDryRun, KeepsControlCharactersFromTheTerminal) {
  const Outcome outcome = dry_run(campaign(job("\"mlp\""), R"({"b": {}, "\u001b[31mred": {}})"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find('\033'), std::string::npos);
  EXPECT_NE(outcome.out.find("\\x1b[31mred"), std::string::npos) << outcome.out;
}

TEST(CollectCommand, RefusesOptionsOfAnotherForm) {
  expect_refused(run_program({"collect", "--dry-run", "operators", "mlp"}),
                 "'--dry-run' stands before 'operators'");
  expect_refused(run_program({"collect", "--store", "x.db", "collectives"}),
                 "'--store' stands before 'collectives'");
  expect_refused(run_program({"collect", "x.json", "operators", "mlp"}), "stands before");
  const Outcome unknown = run_program({"collect", "operators", "--dry-run", "mlp"});
  expect_refused(unknown, "unknown option '--dry-run'; see foretrain collect operators --help");
}

// The store is opened first: no worker is started, which this Python could not be.
TEST(CollectCommand, LooksAtTheStoreBeforeItMeasures) {
  for (const char* form : {"operators", "collectives"}) {
    std::vector<std::string> words{
        "collect",        form, "--plain", "--store", "/no/such/folder/x.db", "--python",
        "/no/such/python"};
    if (form == std::string("operators")) words.push_back("mlp");
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_NE(outcome.err.find("/no/such/folder/x.db"), std::string::npos) << outcome.err;
  }
}

TEST(CollectCommand, HasHelpWithExamples) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"collect"},
                                                {"collect", "operators"},
                                                {"collect", "collectives"}}) {
    std::vector<std::string> asked = words;
    asked.push_back("--help");
    EXPECT_NE(run_program(asked).out.find("  foretrain collect"), std::string::npos);
  }
}

}  // namespace
}  // namespace foretrain::cli
