// SPDX-License-Identifier: Apache-2.0
#include "foretrain/embedding/job_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "foretrain/embedding/embed.h"
#include "foretrain/request/request.h"

namespace foretrain::embedding {
namespace {

class JobFeaturesTest : public testing::Test {
 protected:
  JobFeatures of(const std::string& request, TimeOf time = TimeOf::Step) {
    const Resolved resolved = resolve(parse_request(request, "test"), library_);
    model_ = embed_model(resolved, embedding_, library_);
    return job_features(resolved, *model_, time, {}).value();
  }

  static constexpr std::size_t kParameters = 12;  // of term_names()
  static constexpr std::size_t kExchange = 13;

  double value(const JobFeatures& job, const std::string& name) const {
    const auto names = job_feature_names(embedding_.spread.size());
    const auto found = std::find(names.begin(), names.end(), name);
    return job.values.at(static_cast<std::size_t>(found - names.begin()));
  }

  const Library library_ = load_library();
  const Embedding embedding_ = shipped_embedding();
  std::shared_ptr<const EmbeddedModel> model_;
};

// A T4 has 65 TFLOP/s of half precision, 320 GB/s: 32 samples of a linear layer of 2 x 2048 x 1000.
TEST_F(JobFeaturesTest, TermsAreSecondsByTheDatasheet) {
  const JobFeatures job =
      of(R"({"model": "resnet50", "device": "t4", "batch": 32, "precision": "fp16"})");
  EXPECT_NEAR(job.terms[0], 32 * 2.0 * 2048 * 1000 / 65e12, 1e-9);
  EXPECT_NEAR(job.terms[kParameters], (4 * 25'557'032 + model_->counts.fixed_bytes) / 320e9, 1e-9);
  EXPECT_EQ(job.terms[kExchange], 0);  // one worker exchanges nothing
  EXPECT_EQ(value(job, "log_batch"), std::log(32));
  EXPECT_EQ(job.values.size(), job_feature_names(embedding_.spread.size()).size());
}

// Rings move 2 (p - 1) / p of the gradients; one server takes and gives those of every worker.
TEST_F(JobFeaturesTest, ExchangesDependOnTheStrategy) {
  const std::string job =
      R"({"model": "resnet50", "device": "t4", "workers": 4, "workers_per_node": 1, )"
      R"("network": {"bytes_per_s": 1e9, "efficiency": 1})";
  const double bytes = 4 * 25'557'032;
  EXPECT_NEAR(of(job + "}").terms[kExchange], 1.5 * bytes / 1e9, 1e-6);
  EXPECT_NEAR(of(job + R"(, "strategy": "ps"})").terms[kExchange], 8 * bytes / 1e9, 1e-6);
}

TEST_F(JobFeaturesTest, ATimeOfAJobCountsItsSteps) {
  const std::string job = R"({"model": "resnet50", "device": "t4", "batch": 10, "samples": 100)";
  const double step = of(job + "}").terms[0];
  const JobFeatures epoch = of(job + "}", TimeOf::Epoch);
  EXPECT_EQ(epoch.steps, 10);
  EXPECT_NEAR(epoch.terms[0], 10 * step, 1e-12);
  EXPECT_EQ(value(epoch, "log_samples"), std::log(100));
  EXPECT_EQ(of(job + R"(, "epochs": 3})", TimeOf::Total).steps, 30);
}

TEST_F(JobFeaturesTest, AreFoundByName) {
  const auto names = job_feature_names(embedding_.spread.size());
  const JobFeatures job = of(R"({"model": "resnet50", "device": "t4", "batch": 8})");
  const auto picked = pick({"e1", "log_batch", "precision=fp32", "precision=fp16"}, names, job);
  ASSERT_TRUE(picked);
  EXPECT_EQ(*picked, (std::vector<double>{model_->numbers[1], std::log(8), 1, 0}));
  EXPECT_FALSE(pick({"e1", "magic"}, names, job));
  EXPECT_FALSE(pick({"magic=1"}, names, job));
}

}  // namespace
}  // namespace foretrain::embedding
