// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/simulate.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/sched/test_runs.h"
#include "foretrain/sched/uncertainty.h"

namespace foretrain::sched {
namespace {

std::string message_of(const TestSetup& setup, const std::vector<Job>& jobs) {
  try {
    run_jobs(setup, jobs);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// a: 0 to 4, b: 4 to 6, so completion 4 and 5, waiting 0 and 3; 6 of 6 device seconds used.
TEST(Simulate, SumsUp) {
  const TestRun run = run_jobs({}, {test_job("a", 0, 4), test_job("b", 1, 2)});
  EXPECT_EQ(run.summary.jobs, 2);
  EXPECT_EQ(run.summary.jct.mean(), 4.5);
  EXPECT_EQ(run.summary.jct.at(0.5), 4.5);
  EXPECT_EQ(run.summary.queue.mean(), 1.5);
  EXPECT_EQ(run.summary.makespan, Seconds{6});
  EXPECT_EQ(run.summary.device_utilisation, 1);
  // Slowdowns 1 and 2.5: (3.5)^2 / (2 (1 + 6.25)).
  EXPECT_NEAR(run.summary.fairness, 12.25 / 14.5, 1e-12);
}

TEST(Simulate, WhatEndsMakesRoomForWhatArrives) {
  const TestRun run = run_jobs({}, {test_job("a", 0, 5), test_job("b", 5, 1)});
  EXPECT_EQ(run.jobs.at("b").start, 5);
}

TEST(Simulate, MakespanCountsFromTheFirstSubmission) {
  const TestRun run = run_jobs({}, {test_job("a", 100, 5)});
  EXPECT_EQ(run.summary.makespan, Seconds{5});
}

TEST(Simulate, AJobWithoutDurationEndsAtOnce) {
  for (const char* policy : {"fifo", "srtf", "dlas", "easy"}) {
    TestSetup setup;
    setup.policy = policy;
    const TestRun run = run_jobs(setup, {test_job("a", 1, 0), test_job("b", 1, 2)});
    EXPECT_EQ(run.jobs.at("a").end, 1) << policy;
    EXPECT_EQ(run.jobs.at("b").end, 3) << policy;
  }
}

TEST(Simulate, NoJobsGiveNothing) {
  const TestRun run = run_jobs({}, {});
  EXPECT_EQ(run.summary.completed, 0);
  EXPECT_EQ(run.summary.makespan, Seconds{0});
}

TEST(Simulate, AJobLargerThanTheClusterIsAnError) {
  const std::string message = message_of({}, {test_job("big", 0, 1, 2)});
  EXPECT_NE(message.find("'big' needs 2 devices"), std::string::npos) << message;
  Job typed = test_job("typed", 0, 1);
  typed.device = "h100";
  EXPECT_NE(message_of({}, {typed}).find("type h100"), std::string::npos);
}

// Every 10 s a node fails, and resuming takes 1000 s, or work counts after 1000 s only.
TEST(Simulate, SaysThatJobsNeverGetAnywhere) {
  TestSetup setup;
  setup.options.node_mtbf = Seconds{10};
  setup.options.repair = Seconds{1};
  TestSetup restarts = setup;
  restarts.options.costs.restart = Seconds{1000};
  TestSetup checkpoints = setup;
  checkpoints.options.costs.checkpoint = Seconds{1000};
  for (const TestSetup& one : {restarts, checkpoints}) {
    const std::string message = message_of(one, {test_job("a", 0, 1e6)});
    EXPECT_NE(message.find("nodes fail after 10 s on average"), std::string::npos) << message;
  }
}

// Times so large, and failures so close, that the clock does not move.
TEST(Simulate, SaysThatTheClockStandsStill) {
  TestSetup setup;
  setup.options.node_mtbf = Seconds{1e-300};
  setup.options.repair = Seconds{0};
  EXPECT_NE(message_of(setup, {test_job("a", 1e9, 1)}).find("nodes fail"), std::string::npos);
}

// 1e12 s in rounds of 360 s are 2.8e9 rounds; rounds of 1e-6 s are as many for an hour.
TEST(Simulate, SaysThatRoundsAreTooShort) {
  for (const auto& [round, duration] :
       {std::pair(360.0, 1e12), std::pair(1e-6, 3600.0), std::pair(0.0, 1.0)}) {
    TestSetup setup;
    setup.policy = "max-min";
    setup.policy_options.round = Seconds{round};
    const std::string message = message_of(setup, {test_job("a", 0, duration)});
    EXPECT_NE(message.find("raise --round"), std::string::npos) << message;
  }
}

TEST(Simulate, OrIsLeftOutWhereThatIsAsked) {
  TestSetup setup;
  setup.options.drop_unfit = true;
  const TestRun run = run_jobs(setup, {test_job("big", 0, 1, 2), test_job("a", 0, 1)});
  EXPECT_EQ(run.summary.dropped, 1);
  EXPECT_EQ(run.summary.completed, 1);
}

TEST(Simulate, DevicesOfTwoTypesAreNotMixed) {
  TestSetup setup;
  setup.cluster = test_cluster(1, 2, 2);
  EXPECT_NE(message_of(setup, {test_job("a", 0, 1, 3)}), "");
}

TEST(Simulate, JobsOutOfOrderAreAnError) {
  EXPECT_NE(message_of({}, {test_job("a", 5, 1), test_job("b", 4, 1)}).find("'b'"),
            std::string::npos);
}

// As StopsWhoNeedsLonger, with 1 s to resume: b resumes at 4 and runs from 5 to 9; a resumes at 9
// and runs its last 9 s from 10 on.
TEST(Simulate, ResumingTakesTheRestartCost) {
  TestSetup setup;
  setup.policy = "srtf";
  setup.options.costs.restart = Seconds{1};
  const TestRun run =
      run_jobs(setup, {test_job("a", 0, 10), test_job("b", 1, 5), test_job("c", 2, 2)});
  EXPECT_EQ(run.jobs.at("b").end, 9);
  EXPECT_EQ(run.jobs.at("a").end, 19);
  EXPECT_EQ(run.summary.held_device_seconds, run.summary.work_device_seconds + 2);
}

// The second type takes twice as long. a has the first; b starts on the second at 0.
TEST(Simulate, EachTypeHasItsOwnDuration) {
  TestSetup setup;
  setup.cluster = test_cluster(1, 1, 2);
  setup.durations = [](const Job& job, const Allocation& where) {
    Timing timing = traced_duration(job, where);
    timing.actual *= where.pool + 1;
    timing.predicted = timing.actual;
    return timing;
  };
  const TestRun run = run_jobs(setup, {test_job("a", 0, 10), test_job("b", 0, 10)});
  EXPECT_EQ(run.jobs.at("a").end, 10);
  EXPECT_EQ(run.jobs.at("b").end, 20);
}

// Both jobs send 6 of a node's 10 GB/s for half of their time: 12 / 10 stretches that half to
// 0.6, so together they run at 1 / 1.1. a does 5 of its 10 s by 5.5 and is alone from then on,
// when b, half as long, has ended.
TEST(Simulate, SharedLinksSlowDown) {
  TestSetup setup;
  setup.cluster = test_cluster(2, 2);
  setup.options.place = place_spread;
  setup.durations = [](const Job& job, const Allocation& where) {
    Timing timing = traced_duration(job, where);
    timing.network_bytes_per_s = 6e9;
    timing.network_share = 0.5;
    return timing;
  };
  const TestRun run = run_jobs(setup, {test_job("a", 0, 10, 2), test_job("b", 0, 5, 2)});
  EXPECT_NEAR(run.jobs.at("b").end, 5.5, 1e-12);
  EXPECT_NEAR(run.jobs.at("a").end, 10.5, 1e-12);
}

TEST(Failures, JobsComeBackAndLoseWhatWasNotSaved) {
  TestSetup setup;
  setup.cluster = test_cluster(4, 1);
  setup.options.node_mtbf = Seconds{300};
  setup.options.repair = Seconds{10};
  std::vector<Job> jobs;
  jobs.reserve(20);
  for (int i = 0; i < 20; ++i) jobs.push_back(test_job(std::to_string(i), i, 100));
  const TestRun kept = run_jobs(setup, jobs);
  EXPECT_GT(kept.summary.failures, 0);
  EXPECT_EQ(kept.summary.completed, 20);
  EXPECT_NEAR(kept.summary.held_device_seconds, 2000, 1e-6);
  setup.options.costs.checkpoint = Seconds{30};
  const TestRun lost = run_jobs(setup, jobs);
  EXPECT_GT(lost.summary.held_device_seconds, 2000 + 1);
  // Each failure loses less than the interval.
  EXPECT_LT(lost.summary.held_device_seconds,
            2000 + 30.0 * static_cast<double>(lost.summary.failures));
}

int times_in(const std::string& log, const std::string& word) {
  int count = 0;
  for (auto at = log.find(word); at != std::string::npos; at = log.find(word, at + 1)) ++count;
  return count;
}

// In a thousand years without a job a node would fail three million times, more than the bound on
// events without progress allows.
TEST(Failures, OfIdleNodesAreNotPlayedThrough) {
  TestSetup setup;
  setup.cluster = test_cluster(4, 1);
  setup.options.node_mtbf = Seconds{1e4};
  setup.options.repair = Seconds{100};
  const TestRun run = run_jobs(setup, {test_job("a", 0, 10), test_job("b", 3.15e10, 10)});
  EXPECT_EQ(run.summary.completed, 2);
  EXPECT_LT(times_in(run.log, "node-down"), 20);
}

// Up for 100 s on average, down for 100 s: a job that comes when the last is long forgotten finds
// its node down every second time, and then waits 50 s on average, 25 s in all. The standard errors
// of 4000 jobs are 0.5 / sqrt(4000) = 0.8 % and 32 / sqrt(4000) = 0.5 s. Gaps of nine cycles are
// played through, those of a hundred are not: both give the same.
TEST(Failures, OfIdleNodesLeaveThemDownAsOftenAsEver) {
  for (const double gap : {1800.0, 20000.0}) {
    TestSetup setup;
    setup.options.node_mtbf = Seconds{100};
    setup.options.repair = Seconds{100};
    std::vector<Job> jobs;
    for (int i = 0; i < 4000; ++i) jobs.push_back(test_job(std::to_string(i), i * gap, 0));
    const TestRun run = run_jobs(setup, jobs);
    double waited = 0;
    double wait = 0;
    for (int i = 0; i < 4000; ++i) {
      const double queue = run.jobs.at(std::to_string(i)).start - i * gap;
      waited += queue > 0 ? 1 : 0;
      wait += queue;
    }
    EXPECT_NEAR(waited / 4000, 0.5, 4 * 0.008) << gap;
    EXPECT_NEAR(wait / 4000, 25, 4 * 0.5) << gap;
  }
}

TEST(Uncertainty, ErrorsAreBoundedAndTheSeedsOwn) {
  const Job job = test_job("a", 0, 100);
  const Durations durations = with_error(traced_duration, 0.3, 7);
  double least = 1e9;
  double most = 0;
  for (int id = 0; id < 1000; ++id) {
    Job other = job;
    other.id = id;
    const Timing timing = durations(other, {});
    EXPECT_EQ(timing.actual, Seconds{100});
    least = std::min(least, timing.predicted.count());
    most = std::max(most, timing.predicted.count());
    EXPECT_EQ(timing.predicted, with_error(traced_duration, 0.3, 7)(other, {}).predicted);
    EXPECT_NE(timing.predicted, with_error(traced_duration, 0.3, 8)(other, {}).predicted);
  }
  EXPECT_GE(least, 70);
  EXPECT_LE(most, 130);
  EXPECT_LT(least, 71);
  EXPECT_GT(most, 129);
}

TEST(Uncertainty, WithoutErrorPredictionsAreExact) {
  EXPECT_EQ(with_error(traced_duration, 0, 7)(test_job("a", 0, 100), {}).predicted, Seconds{100});
}

TEST(Uncertainty, DurationsAreDrawnFromTheInterval) {
  const Durations known = [](const Job&, const Allocation&) {
    return Timing{Seconds{5}, Seconds{5}, Seconds{4}, Seconds{8}, 0, 0};
  };
  double sum = 0;
  for (int id = 0; id < 1000; ++id) {
    Job job;
    job.id = id;
    const Seconds actual = drawn_from_interval(known, 1)(job, {}).actual;
    EXPECT_GE(actual, Seconds{4});
    EXPECT_LE(actual, Seconds{8});
    sum += actual.count();
  }
  EXPECT_NEAR(sum / 1000, 6, 0.15);  // four standard errors of a uniform draw
}

}  // namespace
}  // namespace foretrain::sched
