// SPDX-License-Identifier: Apache-2.0
#include "foretrain/request/usual_words.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "foretrain/request/request_fields.h"

namespace foretrain {
namespace {

TEST(UsualWords, NameAField) {
  EXPECT_EQ(find_usual_word("gpus")->field, "workers");
  EXPECT_EQ(find_usual_word("Gradient-Checkpointing")->field, "recompute");
  EXPECT_EQ(find_usual_word("lora")->value, "lora:rank=16");
  EXPECT_FALSE(find_usual_word("workers"));
  EXPECT_FALSE(find_usual_word(""));
  EXPECT_EQ(did_you_mean_field("tp", {"tensor", "top"}), "; did you mean 'tensor'?");
  EXPECT_EQ(did_you_mean_field("tp", {"strategy.tensor"}), "; did you mean 'strategy.tensor'?");
  EXPECT_EQ(did_you_mean_field("tp", {"top"}), "; did you mean 'top'?");  // no field of that kind
  EXPECT_EQ(did_you_mean_field("banana", {"workers"}), "");
}

TEST(UsualWords, NameAValue) {
  EXPECT_EQ(did_you_mean_value("half", {"fp32", "fp16"}), "; did you mean 'fp16'?");
  EXPECT_EQ(did_you_mean_value("BFloat16", {"fp16", "bf16"}), "; did you mean 'bf16'?");
  EXPECT_EQ(did_you_mean_value("Adam", {"sgd", "adam"}), "; did you mean 'adam'?");
  EXPECT_EQ(did_you_mean_value("half", {"math", "flash"}), "");
}

// Every field that a word leads to exists, and no word is a field's own name.
TEST(UsualWords, LeadToFields) {
  std::vector<std::string_view> fields;
  for (const RequestField& field : request_fields()) fields.push_back(field.name);
  for (const RequestField& field : strategy_fields()) fields.push_back(field.name);
  for (const std::string_view word : {"gpu",
                                      "gpus",
                                      "nodes",
                                      "bandwidth",
                                      "instance",
                                      "bs",
                                      "accumulate",
                                      "dtype",
                                      "quantize",
                                      "lora",
                                      "seq",
                                      "compile",
                                      "flash_attention",
                                      "zero",
                                      "tp",
                                      "pp",
                                      "cp",
                                      "ep",
                                      "gradient_checkpointing",
                                      "cpu_offload",
                                      "max_steps",
                                      "mtbf"}) {
    const auto usual = find_usual_word(word);
    ASSERT_TRUE(usual) << word;
    EXPECT_NE(std::find(fields.begin(), fields.end(), usual->field), fields.end()) << word;
    EXPECT_EQ(std::find(fields.begin(), fields.end(), word), fields.end()) << word;
  }
}

}  // namespace
}  // namespace foretrain
