// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "foretrain/base/json.h"
#include "foretrain/cli/split.h"
#include "foretrain/cli/test_program.h"

namespace foretrain::cli {
namespace {

std::vector<std::string> job(std::vector<std::string> more) {
  more.insert(more.begin(), {"predict", "bert-base:seq=128", "--device", "a100", "--workers", "16",
                             "--steps", "1000", "--optimizer", "adam", "--what-if"});
  return more;
}

TEST(WhatIfCommand, ListsChangesAndHowTheyAreTyped) {
  const Outcome outcome = run_program(job({}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char* words : {"as it is", "half precision (bf16)", "As options", "--precision bf16",
                            "network twice as fast", "fused optimizer"}) {
    EXPECT_NE(outcome.out.find(words), std::string::npos) << words;
  }
}

// What is printed can be typed: the command of each change, without its quotes, says the same.
TEST(WhatIfCommand, CommandsPredictWhatTheListSays) {
  const Outcome outcome = run_program(job({"--json"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json all = parse_json(outcome.out);
  int tried = 0;
  for (const Json& one : all["what_if"]) {
    const auto command = one["command"].get<std::string>();
    std::vector<std::string> words;
    for (std::string word : split(command, ' ')) {
      if (word.starts_with("'") && word.ends_with("'")) word = word.substr(1, word.size() - 2);
      words.push_back(word);
    }
    words.erase(words.begin());  // the program's own name
    words.emplace_back("--json");
    const Outcome typed = run_program(words);
    ASSERT_EQ(typed.code, 0) << command << typed.err;
    EXPECT_EQ(parse_json(typed.out)["step_time_s"]["value"], one["step_time_s"]) << command;
    if (++tried == 6) break;
  }
  EXPECT_EQ(tried, 6);
}

TEST(WhatIfCommand, StandsAlone) {
  EXPECT_EQ(run_program(job({"--vary", "batch=1,2"})).code, 2);
  EXPECT_EQ(run_program(job({"--dump", "graph"})).code, 2);
  EXPECT_EQ(run_program({"predict", "--requests", "-", "--what-if"}).code, 2);
}

}  // namespace
}  // namespace foretrain::cli
