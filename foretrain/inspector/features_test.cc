// SPDX-License-Identifier: Apache-2.0
#include "foretrain/inspector/features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "foretrain/inspector/test_jobs.h"

namespace foretrain::inspector {
namespace {

Features features(const std::string& request, Role role) {
  const Job job(request);
  const auto replayed = replay(curves_of(job.stages, job.resolved, role));
  return features_of(job.stages, job.resolved, role, replayed);
}

double value(const Features& features, std::string_view name) {
  const auto found = std::find(features.names.begin(), features.names.end(), name);
  EXPECT_NE(found, features.names.end()) << name;
  return features.values.at(static_cast<std::size_t>(found - features.names.begin()));
}

TEST(Features, AreTheSameForEveryJob) {
  const Features cnn = features(job_of("resnet18-cifar"), Role::Worker);
  EXPECT_EQ(std::set(cnn.names.begin(), cnn.names.end()).size(), cnn.names.size());
  const std::vector<Features> others{
      features(job_of("random:family=lstm,seed=3"), Role::Worker),
      features(job_of("random:family=transformer,seed=3"), Role::Worker),
      features(job_of("resnet18-cifar", kServers), Role::Worker),
      features(job_of("resnet18-cifar", kServers), Role::Server),
      features(R"({"model": "mlp", "device": "cpu:cores=1", "batch": 1})", Role::Worker)};
  for (const Features& one : others) {
    EXPECT_EQ(one.names, cnn.names);
    EXPECT_EQ(one.without_physics, cnn.without_physics);
    ASSERT_EQ(one.values.size(), one.names.size());
    for (std::size_t i = 0; i < one.values.size(); ++i) {
      EXPECT_TRUE(std::isfinite(one.values[i])) << one.names[i];
    }
  }
}

// Batch 4, two workers, 1 Gbit/s of which long transfers reach 93 %; SGD keeps no state.
TEST(Features, TellTheSetting) {
  const Features plain =
      features(job_of("resnet18-cifar", R"(, "optimizer": "sgd")"), Role::Worker);
  EXPECT_DOUBLE_EQ(value(plain, "log_batch"), std::log(4));
  EXPECT_EQ(value(plain, "workers"), 2);
  EXPECT_EQ(value(plain, "servers"), 0);
  EXPECT_EQ(value(plain, "asynchronous"), 0);
  EXPECT_EQ(value(plain, "server"), 0);
  EXPECT_EQ(value(plain, "optimizer_states"), 0);
  EXPECT_DOUBLE_EQ(value(plain, "log_network"), std::log(0.93 * 125e6));
  const Features server = features(job_of("resnet18-cifar", kServers), Role::Server);
  EXPECT_EQ(value(server, "server"), 1);
  EXPECT_EQ(value(server, "servers"), 1);
}

// Shares of bytes, of FLOPs, of nodes and of kernels' time are of one whole each; some operators
// belong to none of the families.
TEST(Features, SharesOfFamiliesAreAtMostOne) {
  const Features cnn = features(job_of("resnet18-cifar"), Role::Worker);
  for (const char* what : {".bytes", ".flops", ".nodes", ".time"}) {
    double sum = 0;
    for (std::size_t i = 0; i < cnn.names.size(); ++i) {
      if (cnn.names[i].ends_with(what)) sum += cnn.values[i];
    }
    EXPECT_GT(sum, 0.5) << what;
    EXPECT_LE(sum, 1 + 1e-9) << what;
  }
  EXPECT_GT(value(cnn, "convolution.flops"), 0.5);
}

TEST(Features, EveryNumberHasPhysicsBehindTheFeaturesWithout) {
  const Features cnn = features(job_of("resnet18-cifar"), Role::Worker);
  const auto place = [&](std::string_view name) {
    return static_cast<std::size_t>(std::find(cnn.names.begin(), cnn.names.end(), name) -
                                    cnn.names.begin());
  };
  for (const resource::UseName& use : resource::use_names()) {
    const std::size_t found = place(physics_feature(use));
    EXPECT_LT(found, cnn.names.size()) << use.name;
    EXPECT_GE(found, cnn.without_physics) << use.name;
  }
  EXPECT_GE(place(kStepFeature), cnn.without_physics);
  EXPECT_LT(place(kStepFeature), cnn.names.size());
}

}  // namespace
}  // namespace foretrain::inspector
