// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "foretrain/base/json.h"
#include "foretrain/cli/test_program.h"

namespace foretrain::cli {
namespace {

const std::string kOperators =
    "machine,source,split,kind,shapes,attributes,dtype,direction,time_s,spread_s,repeats\n"
    "here,base,,linear,8x4;4x2,{},f32,forward,0.25,,3\n";

// A store with one operator, gone when the test ends.
class StoreCommand : public testing::Test {
 protected:
  StoreCommand() : file("operators.csv", kOperators), path(file.path() + ".db") {}
  ~StoreCommand() override {
    for (const char* end : {"", "-wal", "-shm"}) std::remove((path + end).c_str());
  }
  Outcome store(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin() + 1, {"--store", path});
    arguments.insert(arguments.begin(), "store");
    return run_program(arguments);
  }

  TemporaryFile file;
  std::string path;
};

// SQLite would keep the rows in memory, say that all is well and forget them.
TEST_F(StoreCommand, ImportsIntoAFileOrNowhere) {
  for (const char* name : {"", ":memory:", "file::memory:", "file:x?mode=memory", "/dev/null"}) {
    const Outcome outcome = run_program({"store", "import", "--store", name, file.path()});
    EXPECT_EQ(outcome.code, 2) << name;
    EXPECT_EQ(outcome.out, "") << name;
  }
}

TEST_F(StoreCommand, ImportsListsAndExports) {
  const Outcome imported = store({"import", file.path()});
  EXPECT_EQ(imported.code, 0) << imported.err;
  EXPECT_NE(imported.out.find("1 rows into operators"), std::string::npos) << imported.out;
  const Outcome listed = store({"ls", "--json"});
  EXPECT_EQ(parse_json(listed.out)["tables"]["operators"], 1) << listed.err;
  EXPECT_EQ(parse_json(listed.out)["tables"]["machines"], 1);
  EXPECT_EQ(store({"export", "operators"}).out, kOperators);
  EXPECT_EQ(store({"ls", "--runs"}).out, "  no runs\n");
}

TEST_F(StoreCommand, ImportsStandardInput) {
  const Outcome first = run_program({"store", "import", "--store", path, "-"}, kOperators);
  EXPECT_EQ(first.out, "standard input: 1 rows into operators\n") << first.err;
  const Outcome second = run_program({"store", "import", "--store", path, "-"}, kOperators);
  EXPECT_EQ(second.out, "standard input: 1 rows into operators, in place of 1\n") << second.err;
}

// A byte that is no UTF-8 is exported as the sign for such, U+FFFD.
TEST_F(StoreCommand, SpeaksJsonOfBytesThatAreNoText) {
  std::string bytes = kOperators;
  bytes.replace(bytes.find("here"), 4, "m\xff");
  const Outcome imported = run_program({"store", "import", "--store", path, "-"}, bytes);
  EXPECT_EQ(imported.code, 0) << imported.err;
  const Json rows = parse_json(store({"export", "--json", "operators"}).out);
  EXPECT_EQ(rows[0]["machine"], "m\xef\xbf\xbd");
}

TEST_F(StoreCommand, SpeaksJson) {
  const Outcome imported = store({"import", "--json", file.path()});
  EXPECT_EQ(parse_json(imported.out)[0]["table"], "operators") << imported.err;
  EXPECT_EQ(parse_json(imported.out)[0]["rows"], 1);
  EXPECT_EQ(parse_json(imported.out)[0]["replaced"], 0);
  const Json rows = parse_json(store({"export", "--json", "operators"}).out);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["kind"], "linear");
  EXPECT_EQ(rows[0]["time_s"], 0.25);
  EXPECT_TRUE(rows[0]["spread_s"].is_null());
  EXPECT_EQ(parse_json(store({"export", "--json", "steps"}).out), Json::array());
  const std::string folder = path + "-folder";
  const Json written = parse_json(store({"export", "--json", "-o", folder}).out);
  EXPECT_EQ(written["files"], Json::array({"machines.csv", "operators.csv"}));
  EXPECT_EQ(read_text(folder + "/operators.csv"), kOperators);
  std::filesystem::remove_all(folder);
}

// A failed import makes no store; one that is there keeps what it has.
TEST_F(StoreCommand, AFailedImportLeavesNoNewStore) {
  const TemporaryFile broken("broken.csv", kOperators + "cut,off\n");
  EXPECT_EQ(store({"import", file.path(), broken.path()}).code, 2);
  EXPECT_FALSE(std::filesystem::exists(path));
  ASSERT_EQ(store({"import", file.path()}).code, 0);
  EXPECT_EQ(store({"import", broken.path()}).code, 2);
  EXPECT_EQ(store({"export", "operators"}).out, kOperators);
}

// The run that was imported failed; that others are "ok" could be.
TEST_F(StoreCommand, KnowsWhatAFilterMayName) {
  const std::string folder = path + "-folder";
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/machines.csv")
      << "id,cpu,cores,memory_bytes,kernel,system,pytorch,details\nhere,,,,,,,\n";
  std::ofstream(folder + "/campaigns.csv") << "name,created,definition\nbase,,\n";
  std::ofstream(folder + "/runs.csv")
      << "id,campaign,machine,configuration,setting,split,repeat,started,status,message,"
         "calibration_before_s,calibration_after_s,foreign_load,wall_s,steps,step_mean_s,"
         "step_median_s,step_sd_s,exposed_sync_s,details\n"
         "1,base,here,{},ddp2-core-1g,train,0,,failed,,,,,,,,,,,\n";
  const Outcome imported = store({"import", folder});
  std::filesystem::remove_all(folder);
  ASSERT_EQ(imported.code, 0) << imported.err;
  EXPECT_EQ(parse_json(store({"ls", "--json", "--setting", "ddp2-core-1g"}).out).size(), 1U);
  const Outcome typo = store({"ls", "--setting", "ddp2-cor-1g"});
  EXPECT_EQ(typo.code, 2);
  EXPECT_NE(typo.err.find("no run has the setting 'ddp2-cor-1g'; did you mean 'ddp2-core-1g'?"),
            std::string::npos)
      << typo.err;
  EXPECT_EQ(store({"ls", "--status", "okay"}).code, 2);
  EXPECT_EQ(store({"ls", "--status", "ok"}).out, "  no runs\n");
}

TEST_F(StoreCommand, SaysWhatIsWrong) {
  const Outcome missing = store({"ls"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.err.find("there is no store"), std::string::npos) << missing.err;
  ASSERT_EQ(store({"import", file.path()}).code, 0);
  EXPECT_NE(store({"show", "7"}).err.find("no run 7"), std::string::npos);
  const Outcome table = store({"export", "operator"});
  EXPECT_EQ(table.code, 2);
  EXPECT_NE(table.err.find("did you mean 'operators'"), std::string::npos) << table.err;
  EXPECT_EQ(store({"export"}).code, 2);
}

}  // namespace
}  // namespace foretrain::cli
