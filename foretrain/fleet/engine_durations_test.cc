// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fleet/engine_durations.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/predict/predict.h"
#include "foretrain/request/request.h"

namespace foretrain::fleet {
namespace {

const Library& library() {
  static const Library loaded = load_library();
  return loaded;
}

const SimulatedCluster& cluster() {
  static const SimulatedCluster two_nodes = read_simulated_cluster(
      R"({"nodes": [{"count": 2, "devices": 2, "device": "v100-sxm2-16gb"}], "network": "1gbe"})",
      library().catalog);
  return two_nodes;
}

sched::Job job_of(const std::string& request) {
  sched::Job job;
  job.name = "j";
  job.devices = 2;
  job.request = request;
  return job;
}

const std::string kRequest = R"({"model": "resnet18", "batch": 8, "steps": 100})";
const sched::Allocation kTogether{0, {{0, 2}}};
const sched::Allocation kApart{0, {{0, 1}, {1, 1}}};

// ResNet-18 has 11,689,512 parameters of 4 bytes; two workers that sum n bytes around a ring send
// 2 (p - 1) / p n = n bytes each, across nodes over their network.
TEST(EngineDurations, TakeWhatTheReportSays) {
  EngineDurations durations(cluster(), library(), {});
  const sched::Timing apart = durations(job_of(kRequest), kApart);
  Request request = parse_request(kRequest, "test");
  request.cluster = Described{cluster_json(cluster(), kApart), true};
  const Report report = predict(request, library());
  EXPECT_DOUBLE_EQ(apart.actual.count(), 100 * report.step_time_s.value);
  EXPECT_EQ(apart.predicted, apart.actual);
  EXPECT_DOUBLE_EQ(apart.network_bytes_per_s, report.sent_bytes / report.step_time_s.value);
  EXPECT_DOUBLE_EQ(report.sent_bytes, 4 * 11'689'512.0);
  EXPECT_GT(apart.network_share, 0);
  EXPECT_EQ(durations(job_of(kRequest), kTogether).network_bytes_per_s, 0);
}

// Half as many steps take half as long, whichever is asked first.
TEST(EngineDurations, JobsThatDifferInTheirStepsShareAnAnswer) {
  EngineDurations durations(cluster(), library(), {});
  const Seconds all = durations(job_of(kRequest), kApart).actual;
  const sched::Job half = job_of(R"({"model": "resnet18", "batch": 8, "steps": 50})");
  EXPECT_DOUBLE_EQ(durations(half, kApart).actual.count(), all.count() / 2);
}

TEST(EngineDurations, ADurationGoesFirstUnlessPlacementCounts) {
  using Happens = EngineDurations::Happens;
  sched::Job job = job_of(kRequest);
  job.duration = Seconds{60};
  const auto actual = [&](Happens happens, const sched::Allocation& where) {
    EngineDurations durations(cluster(), library(), {.happens = happens});
    return durations(job, where).actual.count();
  };
  EXPECT_EQ(actual(Happens::Traced, kApart), 60);
  EXPECT_EQ(actual(Happens::Placed, kTogether), 60);  // the fewest nodes
  const double stretched = actual(Happens::Engine, kApart) / actual(Happens::Engine, kTogether);
  EXPECT_GT(stretched, 1);
  EXPECT_DOUBLE_EQ(actual(Happens::Placed, kApart), 60 * stretched);
}

TEST(EngineDurations, AnErrorNamesTheJob) {
  EngineDurations durations(cluster(), library(), {});
  for (const char* request :
       {R"({"model": "resnet5000", "steps": 1})", R"({"model": "resnet18"})"}) {
    try {
      durations(job_of(request), kTogether);
      FAIL() << request;
    } catch (const Error& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("job 'j': ")) << error.what();
    }
  }
}

}  // namespace
}  // namespace foretrain::fleet
