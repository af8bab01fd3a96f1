// SPDX-License-Identifier: Apache-2.0
#include "foretrain/operators/detail/domain.h"

#include <gtest/gtest.h>

namespace foretrain::operators {
namespace {

// Two measured models on two chips.
Intervals measured() {
  Intervals intervals;
  intervals.distance = {.family = 4,
                        .model = 1,
                        .architecture = 1,
                        .device = 1,
                        .precision = 1,
                        .mode = 2,
                        .framework = 0.5,
                        .workers = 0.3,
                        .batch = 0.1,
                        .source = ""};
  intervals.measured = {
      {"resnet50", "cnn", "v100-sxm2", "volta", "fp32", "train", "pytorch-1", "a", 1, 8, 16, 128},
      {"resnet50", "cnn", "t4", "turing", "fp16", "train", "pytorch-1", "b", 1, 64, 16, 128},
      {"bert-base", "transformer", "t4", "turing", "fp32", "train", "adaptdl", "b", 1, 16, 4, 12}};
  return intervals;
}

MeasuredCase resnet_on_t4() {
  return {"resnet18", "cnn", "t4", "turing", "fp32", "train", "pytorch-1", "", 1, 4, 1, 32};
}

TEST(Domain, InsideThereIsNoWarning) {
  EXPECT_TRUE(domain_warnings(measured(), resnet_on_t4()).empty());
  EXPECT_TRUE(domain_warnings(Intervals{}, resnet_on_t4()).empty());
}

TEST(Domain, VersionsOfPyTorchAreOneFramework) {
  MeasuredCase asked = resnet_on_t4();
  asked.framework = "pytorch";
  EXPECT_TRUE(domain_warnings(measured(), asked).empty());
  asked.framework = "jax";
  EXPECT_TRUE(domain_warnings(measured(), asked).front().ends_with(": framework jax"));
}

TEST(Domain, AWarningSaysWhatWasNeverMeasured) {
  MeasuredCase asked = resnet_on_t4();
  asked.device = "h100-sxm5";
  asked.precision = "bf16";
  asked.most_workers = 128;
  const auto warnings = domain_warnings(measured(), asked);
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_TRUE(
      warnings[0].ends_with(": h100-sxm5; cnn models in bf16; cnn models on more than 64 devices"))
      << warnings[0];
  EXPECT_NE(warnings[1].find("resnet50 on 1 to 64 t4 in fp16, batch 16 to 128 (b)"),
            std::string::npos)
      << warnings[1];
}

// A new family: the number of its workers and its precision are not said as well.
TEST(Domain, AnUnknownFamilyIsOneReason) {
  MeasuredCase asked = resnet_on_t4();
  asked.family = "recurrent";
  const auto warnings = domain_warnings(measured(), asked);
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_TRUE(warnings[0].ends_with(": recurrent models"));
}

// From resnet18 on T4 in fp32, 4 workers, batch 32: another model 1, and for V100 architecture 1
// and chip 1 = 3; for T4's fp16 1 + 1 = 2; BERT is another family 4 + 1, framework 0.5, batch
// log2(32/12) * 0.1 = 0.14.
TEST(Domain, TheNearestComeFirst) {
  const Intervals known = measured();
  const auto nearest = nearest_cases(known, resnet_on_t4(), 3);
  ASSERT_EQ(nearest.size(), 3u);
  EXPECT_EQ(nearest[0], &known.measured[1]);
  EXPECT_EQ(nearest[1], &known.measured[0]);
  EXPECT_EQ(nearest[2], &known.measured[2]);
  EXPECT_EQ(nearest_cases(known, resnet_on_t4(), 1).size(), 1u);
}

}  // namespace
}  // namespace foretrain::operators
