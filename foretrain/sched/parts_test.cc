// SPDX-License-Identifier: Apache-2.0
// The small parts: quantiles, orders, the linear programme, generated workloads.
#include <gtest/gtest.h>

#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/sched/detail/linear_program.h"
#include "foretrain/sched/detail/random.h"
#include "foretrain/sched/generate.h"
#include "foretrain/sched/quantiles.h"
#include "foretrain/sched/test_runs.h"

namespace foretrain::sched {
namespace {

// Sorted 1 2 4 10: the middle is between 2 and 4; 95 % is at place 2.85.
TEST(QuantilesOf, AFewNumbersAreExact) {
  Quantiles of;
  for (const double value : {4.0, 1.0, 10.0, 2.0}) of.add(value);
  EXPECT_EQ(of.mean(), 4.25);
  EXPECT_EQ(of.at(0.5), 3);
  EXPECT_NEAR(of.at(0.95), 4 + 0.85 * 6, 1e-12);
  EXPECT_EQ(of.at(0), 1);
  EXPECT_EQ(of.at(1), 10);
  EXPECT_EQ(Quantiles{}.at(0.5), 0);
}

TEST(QuantilesOf, ManyNumbersAreWithinAThousandth) {
  Quantiles of;
  const int count = 300'000;
  for (int i = 1; i <= count; ++i) of.add(i);
  EXPECT_NEAR(of.mean(), (count + 1) / 2.0, 1e-6);
  for (const double q : {0.01, 0.5, 0.95, 0.99}) {
    EXPECT_NEAR(of.at(q) / (1 + q * (count - 1)), 1, 0.00101) << q;
  }
}

TEST(QuantilesOf, ManyZerosStayZero) {
  Quantiles of;
  for (int i = 0; i < 300'000; ++i) of.add(0);
  EXPECT_EQ(of.at(0.5), 0);
}

// At 10 a falls to 90 and is ahead of b; where both are at 95, the one that falls more slowly
// (it waits) was ahead before.
TEST(KeyOrder, FallsWithTime) {
  const Key a{100, 1, 0};
  const Key b{95, 0, 1};
  EXPECT_TRUE(ahead(b, a, Seconds{0}));
  EXPECT_TRUE(ahead(b, a, Seconds{5}));
  EXPECT_TRUE(ahead(a, b, Seconds{10}));
}

// Sizes 2 (ranks 1, 3) and 1 (ranks 2, 4) in this order: 1:2 2:1 3:2 4:1.
TEST(RunningOrder, CountsDevicesAhead) {
  Running running;
  running.insert(0, 2, {1, 0, 0}, 0);
  running.insert(0, 1, {2, 0, 1}, 1);
  running.insert(0, 2, {3, 0, 2}, 2);
  running.insert(0, 1, {4, 0, 3}, 3);
  EXPECT_EQ(running.used(0), 6);
  EXPECT_EQ(running.used_ahead(0, {2.5, 0, 9}, Seconds{0}), 3);
  EXPECT_EQ(running.used_ahead(0, {3, 0, 1}, Seconds{0}), 3);
  EXPECT_EQ(running.used_ahead(0, {3, 0, 3}, Seconds{0}), 5);
  EXPECT_FALSE(running.first_beyond(0, 6, Seconds{0}));
  EXPECT_EQ(running.first_beyond(0, 5, Seconds{0}), 3);
  EXPECT_EQ(running.first_beyond(0, 4, Seconds{0}), 2);
  EXPECT_EQ(running.first_beyond(0, 2, Seconds{0}), 1);
  running.erase(0, 2, {1, 0, 0}, 0);
  EXPECT_EQ(running.used(0), 4);
}

// max 3x + 2y, x + y <= 4, x <= 3: x = 3, y = 1.
TEST(LinearProgramme, FindsTheCorner) {
  LinearProgram program;
  program.objective = {3, 2};
  program.rows = {{{{0, 1}, {1, 1}}, 4}, {{{0, 1}}, 3}};
  const std::vector<double> x = solve(program);
  EXPECT_NEAR(x[0], 3, 1e-9);
  EXPECT_NEAR(x[1], 1, 1e-9);
}

TEST(LinearProgramme, WithoutBoundHasNoSolution) {
  LinearProgram program;
  program.objective = {1};
  program.rows = {{{{0, -1}}, 4}};
  EXPECT_THROW(solve(program), Error);
}

// The mean duration of the lognormal is median exp(sigma^2 / 2); the mean of devices is 2.9.
TEST(Generated, WorkloadsHaveTheLoadAskedFor) {
  Workload workload = parse_workload("generate:jobs=50000,seed=3,load=0.5,median_s=100,sigma=1");
  const JobSource source = generate(workload, test_cluster(10, 8));
  Job job;
  double device_seconds = 0;
  Seconds last{0};
  int count = 0;
  while (source(job)) {
    EXPECT_EQ(job.id, count++);
    EXPECT_GE(job.submit, last);
    last = job.submit;
    device_seconds += job.devices * job.duration->count();
  }
  EXPECT_EQ(count, 50000);
  EXPECT_NEAR(device_seconds / (80 * last.count()), 0.5, 0.02);
}

TEST(Generated, WorkloadsDependOnTheSeed) {
  const hw::Cluster cluster = test_cluster(1, 8);
  const auto first_of = [&](const char* text) {
    Job job;
    const JobSource source = generate(parse_workload(text), cluster);
    source(job);
    source(job);
    return job.submit;
  };
  EXPECT_EQ(first_of("generate:seed=1"), first_of("generate:seed=1"));
  EXPECT_NE(first_of("generate:seed=1"), first_of("generate:seed=2"));
}

TEST(Generated, MistakesAreNamed) {
  EXPECT_THROW(parse_workload("generate:job=5"), Error);
  EXPECT_THROW(parse_workload("generate:jobs=0"), Error);
  EXPECT_THROW(parse_workload("generate:jobs"), Error);
  EXPECT_THROW(parse_workload("generate:jobs=x"), Error);
}

TEST(RandomNumbers, HaveTheMomentsOfTheirDistributions) {
  Random random(1);
  double sum = 0;
  double squares = 0;
  double waits = 0;
  const int count = 100'000;
  for (int i = 0; i < count; ++i) {
    const double z = random.normal();
    sum += z;
    squares += z * z;
    waits += random.exponential(Seconds{5}).count();
  }
  EXPECT_NEAR(sum / count, 0, 0.02);
  EXPECT_NEAR(squares / count, 1, 0.03);
  EXPECT_NEAR(waits / count, 5, 0.1);
}

}  // namespace
}  // namespace foretrain::sched
