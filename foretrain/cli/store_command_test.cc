// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>

#include "foretrain/base/json.h"
#include "foretrain/cli/run_program.h"

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

TEST_F(StoreCommand, ImportsListsAndExports) {
  const Outcome imported = store({"import", file.path()});
  EXPECT_EQ(imported.code, 0) << imported.err;
  EXPECT_NE(imported.out.find("1 rows into operators"), std::string::npos) << imported.out;
  const Outcome listed = store({"ls", "--json"});
  EXPECT_EQ(Json::parse(listed.out)["tables"]["operators"], 1) << listed.err;
  EXPECT_EQ(Json::parse(listed.out)["tables"]["machines"], 1);
  EXPECT_EQ(store({"export", "operators"}).out, kOperators);
  EXPECT_EQ(store({"ls", "--runs"}).out, "  no runs\n");
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
