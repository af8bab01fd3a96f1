// SPDX-License-Identifier: Apache-2.0
// What quantised layers read, kept until the next step's loss, in whole predictions.
#include <gtest/gtest.h>

#include <string>

#include "foretrain/predict/predict.h"

namespace foretrain {
namespace {

const Library& library() {
  static const Library kLibrary = load_library();
  return kLibrary;
}

double allocated(const std::string& fields) {
  const std::string job =
      R"({"model":"llama:layers=2,hidden=1024,heads=8,ffn=4096,vocab=4096,seq=512",
          "device":"a10g","batch":1,"precision":"bf16","weights":"nf4","optimizer":"adamw",
          "framework":"litgpt","trainable":"lora:rank=8,dtype=bf16")";
  return predict(parse_request(job + fields + "}", "test"), library()).memory.allocated;
}

// A layer's quantised ones read the input of queries, keys and values, what attention wrote, the
// input of the gated layer and its product: 3 * 1024 + 4096 values for each of 512 tokens; the head
// reads 1024. In 2 B for two layers: 2 * 512 * (2 * 7168 + 1024) = 15,728,640 B. After a step of a
// quarter as many tokens three quarters of that are missing.
TEST(RetainedInputs, AreThoseOfTheStepBefore) {
  EXPECT_EQ(allocated("") - allocated(R"(,"mean_length":128)"), 0.75 * 15728640);
}

}  // namespace
}  // namespace foretrain
